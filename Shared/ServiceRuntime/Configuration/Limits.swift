/// The limits of listeners (`rpc-protocol.md` section 6). Each is a key under `limits:`.
public struct Limits: Sendable, Hashable {
  /// Bytes of a request's body, as sent and inflated.
  public var bodyBytes = 4 << 20
  /// Bytes of the body of a batch method, as sent and inflated.
  public var batchBodyBytes = 16 << 20
  /// The same on the public port.
  public var publicBodyBytes = 256 << 10
  /// How many times as large as it was sent a body of gzip may be inflated.
  public var gzipRatio = 100
  /// Levels of JSON, at most 64.
  public var jsonDepth = 32
  /// Values in a JSON document.
  public var jsonValues = 20_000
  /// The same of batch methods.
  public var batchJSONValues = 200_000
  /// Bytes of all headers of a request.
  public var headerBytes = 16 << 10
  /// Headers of a request.
  public var headerCount = 100
  /// Bytes of a request's path and query.
  public var requestTargetBytes = 8 << 10
  /// Bytes of the header that a proxy sends in front of a connection.
  public var proxyHeaderBytes = 2048
  /// How long a request's head may take, and at a connection's beginning a proxy's header and TLS with it.
  public var headerTime: Duration = .seconds(10)
  /// How long a request's body may take.
  public var bodyTime: Duration = .seconds(30)
  /// How long a connection without a request stays open.
  public var idleTime: Duration = .seconds(75)
  /// Open connections of each listener.
  public var connections = 10_000
  /// Bytes of unfinished bodies of a listener, over all its connections.
  public var bodyMemory = 512 << 20
  /// Streams of one HTTP/2 connection at a time; one more is refused.
  public var streams = 128
  /// Streams of one HTTP/2 connection that its peer may reset, break or open beyond the bound within 30 seconds.
  public var streamResets = 200
  /// Pings, settings and priorities of one HTTP/2 connection within 30 seconds.
  public var controlFrames = 200
  /// Items of a batch.
  public var batchItems = 1000

  public init() {}
}
