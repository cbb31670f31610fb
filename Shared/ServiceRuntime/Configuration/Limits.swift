/// What a listener takes before it refuses (`rpc-protocol.md` section 6). Every one is a key under `limits:`.
public struct Limits: Sendable, Hashable {
  public var bodyBytes = 4 << 20
  public var batchBodyBytes = 16 << 20
  public var publicBodyBytes = 256 << 10
  public var gzipRatio = 100
  public var jsonDepth = 32
  public var jsonValues = 20_000
  public var batchJSONValues = 200_000
  public var headerBytes = 16 << 10
  public var headerCount = 100
  public var requestTargetBytes = 8 << 10
  /// Bytes of the header that a proxy sends in front of a connection.
  public var proxyHeaderBytes = 2048
  public var headerTime: Duration = .seconds(10)
  public var bodyTime: Duration = .seconds(30)
  public var idleTime: Duration = .seconds(75)
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
