import Cryptography
import NIOHTTP1
import ServiceRuntime

/// The headers of all responses of the console.
enum ConsoleHeaders {
  /// Allows only the console's own style sheet, script and icon, allows forms only to this host, and forbids frames.
  static let policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    + "base-uri 'none'; frame-ancestors 'none'"

  static let common: HTTPHeaders = [
    "content-security-policy": policy,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    // With a stricter policy, browsers would send no `Origin`, by which forms of other sites are recognized.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  ]

  static func page(_ status: Int, _ html: [UInt8], cookies: [String] = []) -> HTTPResponse {
    var headers = common
    headers.add(name: "content-type", value: "text/html; charset=utf-8")
    headers.add(name: "cache-control", value: "no-store")
    for cookie in cookies { headers.add(name: "set-cookie", value: cookie) }
    return HTTPResponse(status: status, headers: headers, body: html)
  }

  static func redirect(to path: String, cookies: [String] = []) -> HTTPResponse {
    var headers = common
    headers.add(name: "location", value: path)
    headers.add(name: "cache-control", value: "no-store")
    for cookie in cookies { headers.add(name: "set-cookie", value: cookie) }
    return HTTPResponse(status: 303, headers: headers)
  }
}

/// A static file of the console. Browsers must revalidate it each time, because during an upgrade one load balancer leads to instances of
/// two versions.
struct Asset: Sendable {
  /// The content type.
  let type: String
  let bytes: [UInt8]
  /// The entity tag: a digest of the bytes.
  let tag: String

  init(_ type: String, _ bytes: [UInt8]) {
    self.type = type
    self.bytes = bytes
    tag = "\"" + Hex.encode(SHA256Digest.hash(bytes)).prefix(24) + "\""
  }

  func response(to request: IncomingRequest) -> HTTPResponse {
    var headers = ConsoleHeaders.common
    headers.add(name: "etag", value: tag)
    headers.add(name: "cache-control", value: "no-cache")
    guard request.header("if-none-match") != tag else { return HTTPResponse(status: 304, headers: headers) }
    headers.add(name: "content-type", value: type)
    return HTTPResponse(status: 200, headers: headers, body: bytes)
  }
}
