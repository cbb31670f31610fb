/// The address of a Redis node or of a Sentinel.
public struct NodeAddress: Sendable, Hashable, CustomStringConvertible {
  public let host: String
  public let port: Int

  public init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// Parses `host:port` as Redis writes it, with IPv6 addresses without brackets. An empty or unknown host (`?`) stands for the host of the
  /// node that sent the reply.
  init?(text: some StringProtocol, answeredBy node: NodeAddress) {
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]), (1...65_535).contains(port) else {
      return nil
    }
    let host = text[..<colon]
    self.init(host: host.isEmpty || host == "?" ? node.host : String(host), port: port)
  }

  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
