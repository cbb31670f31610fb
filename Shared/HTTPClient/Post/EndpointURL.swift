import CCurl

/// A URL from a caller. curl parses it here and when it connects. With two different parsers, one host could be checked and another one
/// called.
public struct EndpointURL: Sendable, Hashable {
  /// Why a URL is invalid.
  public enum Failure: Error, Sendable, Hashable, CustomStringConvertible {
    case malformed
    case scheme
    case user
    case fragment
    case tooLong

    public var description: String {
      switch self {
      case .malformed: "is not a URL with a host"
      case .scheme: "must begin with https://"
      case .user: "must not have a user or a password"
      case .fragment: "must not have a fragment"
      case .tooLong: "must be at most \(EndpointURL.maxBytes) bytes"
      }
    }
  }

  /// The greatest length of a URL in bytes.
  public static let maxBytes = 2048

  /// The URL, unchanged.
  public let text: String
  /// The host in lower case; an IP address without brackets, in the notation to which curl normalises it.
  public let host: String

  /// - Parameter allowsHTTP: true if `http` is allowed.
  public init(validating text: String, allowsHTTP: Bool) throws(Failure) {
    guard text.utf8.count <= Self.maxBytes else { throw .tooLong }
    guard !text.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { throw .malformed }
    guard let url = curl_url() else { throw .malformed }
    defer { curl_url_cleanup(url) }
    guard curl_url_set(url, CURLUPART_URL, text, UInt32(CURLU_NON_SUPPORT_SCHEME)) == CURLUE_OK else { throw .malformed }
    func part(_ part: CURLUPart) -> String? {
      var found: UnsafeMutablePointer<CChar>?
      guard curl_url_get(url, part, &found, 0) == CURLUE_OK, let found else { return nil }
      defer { curl_free(found) }
      return String(cString: found)
    }
    let scheme = part(CURLUPART_SCHEME)?.lowercased()
    guard scheme == "https" || scheme == "http" && allowsHTTP else { throw .scheme }
    guard part(CURLUPART_USER) == nil, part(CURLUPART_PASSWORD) == nil else { throw .user }
    guard part(CURLUPART_FRAGMENT) == nil else { throw .fragment }
    guard var host = part(CURLUPART_HOST)?.lowercased(), !host.isEmpty else { throw .malformed }
    if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    self.host = host
    self.text = text
  }
}
