/// The address on which a server listens. An IPv6 host is stored without brackets.
public struct ListenAddress: Sendable, Hashable {
  public var host: String
  public var port: Int

  public init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  init(_ text: String, variable: String) throws(ConfigurationError) {
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
      (0...65535).contains(port)
    else {
      throw ConfigurationError(variable, "must be host:port, such as 0.0.0.0:8090 or [::]:8090")
    }
    host = String(text[..<colon].filter { $0 != "[" && $0 != "]" })
    self.port = port
  }
}
