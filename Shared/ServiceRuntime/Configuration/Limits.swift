import WireJSON

/// The limits of listeners. Each is a key of `limits` in the configuration (`Documentation/configuration.md`).
public struct Limits: Sendable, Hashable {
  /// Bytes of a request's body, as sent and inflated.
  public var bodyBytes = 4 << 20
  /// Bytes of the body of a batch method, as sent and inflated.
  public var batchBodyBytes = 16 << 20
  /// Bytes of a body on the public port, as sent and inflated.
  public var publicBodyBytes = 256 << 10
  /// The maximum ratio of inflated to sent bytes of a gzip body.
  public var gzipRatio = 100
  /// Nesting levels of JSON, at most 64.
  public var jsonDepth = JSONLimits().depth
  /// Values in a JSON document.
  public var jsonValues = JSONLimits().values
  /// Values in the JSON document of a batch method.
  public var batchJSONValues = 200_000
  /// Bytes of all headers of a request.
  public var headerBytes = 16 << 10
  /// Headers of a request.
  public var headerCount = 100
  /// Bytes of a request's path and query.
  public var requestTargetBytes = 8 << 10
  /// Bytes of a PROXY protocol header.
  public var proxyHeaderBytes = 2048
  /// How long a request's head may take; at the start of a connection this includes the PROXY header and the TLS handshake.
  public var headerTime: Duration = .seconds(10)
  /// How long a request's body may take.
  public var bodyTime: Duration = .seconds(30)
  /// How long a connection without a request stays open.
  public var idleTime: Duration = .seconds(75)
  /// Open connections of each listener.
  public var connections = 10_000
  /// Bytes of the bodies of unanswered requests, over all connections of a listener.
  public var bodyMemory = 512 << 20
  /// Concurrent streams of one HTTP/2 connection; further streams are refused.
  public var streams = 128
  /// Streams of one HTTP/2 connection that the peer may reset, break or open beyond the limit within 30 seconds.
  public var streamResets = 200
  /// Pings, settings and priorities of one HTTP/2 connection within 30 seconds.
  public var controlFrames = 200
  /// Items of a batch.
  public var batchItems = 1000

  public init() {}
}
