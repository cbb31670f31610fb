import WireJSON

/// The limits of the listeners: the section `limits` of the configuration (`Documentation/configuration.md`).
public struct Limits: Sendable, Hashable {
  /// Bytes of a request's body, both as sent and after inflation.
  public var bodyBytes = 4 << 20
  /// Bytes of the body of a call of a batch method, both as sent and after inflation.
  public var batchBodyBytes = 16 << 20
  /// Bytes of a body on the public port, both as sent and after inflation; at the same time, if it is above 262144, of a JWS of the App Store.
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
  /// How long a request's head may take; at the start of a connection this includes the PROXY header and the TLS handshake. After it the
  /// connection is closed. On HTTP/1.1, a request whose head has begun is first answered with 408.
  public var headerTime: Duration = .seconds(10)
  /// How long a request's body may take. After it the request is answered with 408 or with the status that its public route has for this.
  public var bodyTime: Duration = .seconds(30)
  /// How long a connection without a request stays open.
  public var idleTime: Duration = .seconds(75)
  /// Open connections of each listener.
  public var connections = 10_000
  /// Bytes of the bodies of unanswered requests, in all connections of a listener together.
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

extension Limits {
  /// The JSON reader has a bit set of 64 bits, with one bit for each level.
  private static let maxJSONDepth = 64

  init(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    self.init()
    func count(_ key: String, _ value: inout Int) throws(ConfigurationError) {
      guard let child = node[key] else { return }
      let number = try child.integer()
      guard number >= 1, number <= 1 << 40 else { throw ConfigurationError(child.path, "must be 1 to \(1 << 40)") }
      value = Int(number)
    }
    try count("bodyBytes", &bodyBytes)
    try count("bodyMemory", &bodyMemory)
    try count("batchBodyBytes", &batchBodyBytes)
    try count("publicBodyBytes", &publicBodyBytes)
    try count("gzipRatio", &gzipRatio)
    try count("jsonDepth", &jsonDepth)
    guard jsonDepth <= Self.maxJSONDepth else {
      throw ConfigurationError(node["jsonDepth"]?.path ?? "limits.jsonDepth", "must be at most \(Self.maxJSONDepth)")
    }
    try count("jsonValues", &jsonValues)
    try count("batchJSONValues", &batchJSONValues)
    try count("headerBytes", &headerBytes)
    try count("headerCount", &headerCount)
    try count("requestTargetBytes", &requestTargetBytes)
    try count("connections", &connections)
    try count("streams", &streams)
    try count("streamResets", &streamResets)
    try count("controlFrames", &controlFrames)
    try count("batchItems", &batchItems)
    try node.count("proxyHeaderBytes", ProxyHeader.maxLineLength...ProxyHeader.maxLength, &proxyHeaderBytes)
    headerTime = try node["headerTime"]?.duration() ?? headerTime
    bodyTime = try node["bodyTime"]?.duration() ?? bodyTime
    idleTime = try node["idleTime"]?.duration() ?? idleTime
    unknown += node.unknownKeys([
      "bodyBytes", "bodyMemory", "batchBodyBytes", "publicBodyBytes", "gzipRatio", "jsonDepth", "jsonValues", "batchJSONValues",
      "headerBytes", "headerCount", "requestTargetBytes", "connections", "streams", "streamResets", "controlFrames", "batchItems",
      "headerTime",
      "bodyTime", "idleTime", "proxyHeaderBytes",
    ])
  }
}
