import Foundation

/// The parts of a target URL: `http` or `https`, host, port, path.
public struct OutgoingURL: Sendable, CustomStringConvertible {
  public let description: String
  let secure: Bool
  let host: String
  let port: Int
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

  var authority: String { port == (secure ? 443 : 80) ? host : "\(host):\(port)" }
}
