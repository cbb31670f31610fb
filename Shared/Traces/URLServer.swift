/// The host and port of a URL, for the span attributes `server.address` and `server.port`.
public struct URLServer: Sendable, Hashable {
  /// In lower case; an IPv6 address without brackets.
  public let host: String
  public let port: Int

  /// Nil for anything but an HTTP URL.
  public init?(_ url: String) {
    let isSecure = url.hasPrefix("https://")
    guard isSecure || url.hasPrefix("http://") else { return nil }
    let authority = url.dropFirst(isSecure ? 8 : 7).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    // User and password must not be in a trace.
    let server = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
    var host = server
    var port = isSecure ? 443 : 80
    if let colon = server.lastIndex(of: ":"), !server[colon...].contains("]") {
      guard let number = UInt16(server[server.index(after: colon)...]) else { return nil }
      (host, port) = (server[..<colon], Int(number))
    }
    if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
    guard !host.isEmpty else { return nil }
    self.host = host.lowercased()
    self.port = port
  }
}
