/// Where a node of a cluster, a Sentinel, or the primary that Sentinels name, is reached.
public struct NodeAddress: Sendable, Hashable, CustomStringConvertible {
  public let host: String
  public let port: Int

  public init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// As Redis writes it, `host:port`; an IPv6 address stands without brackets. An empty or unknown host (`?`) is that of the node that told.
  init?(text: some StringProtocol, toldBy teller: NodeAddress) {
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]), (1...65_535).contains(port) else {
      return nil
    }
    let host = text[..<colon]
    self.init(host: host.isEmpty || host == "?" ? teller.host : String(host), port: port)
  }

  public var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}
