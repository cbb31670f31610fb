import Foundation

/// An `http` or `https` URL and its parts.
public struct OutgoingURL: Sendable, CustomStringConvertible {
  public let description: String
  /// True for `https`.
  let secure: Bool
  let host: String
  let port: Int
  /// The path and the query.
  let target: String

  public init?(_ text: String) {
    guard let parts = URLComponents(string: text), let host = parts.host, !host.isEmpty,
      parts.scheme == "http" || parts.scheme == "https"
    else { return nil }
    description = text
    secure = parts.scheme == "https"
    self.host = host
    port = parts.port ?? (secure ? 443 : 80)
    target =
      (parts.percentEncodedPath.isEmpty ? "/" : parts.percentEncodedPath)
      + (parts.percentEncodedQuery.map { "?" + $0 } ?? "")
  }

  /// The value of the Host header: the host and, if it is not the usual one, the port.
  var authority: String { port == (secure ? 443 : 80) ? host : "\(host):\(port)" }
}
