public import NIOHTTP1

/// The head of a request, whose body has not been read yet.
public final class IncomingRequest: Sendable {
  public let method: String
  /// The path without the query.
  public let path: String
  public let query: String?
  public let headers: HTTPHeaders
  /// The other end of the connection.
  public let peer: ConnectionPeer
  public let isHTTP2: Bool

  // The headers that are needed of most requests. They are found in one pass over all headers. Of several with the same name, the first
  // counts.
  let requestId: String?
  let authorization: String?
  let contentType: String?
  let contentEncoding: String?
  let traceparent: String?
  let idempotencyKey: String?
  let connectTimeout: String?
  let connectVersion: String?
  /// The value of `Content-Length`; nil if it is missing or not a number.
  let contentLength: Int?
  /// True if `Content-Length` is present and is not a number.
  private let hasBadLength: Bool
  let isChunked: Bool
  /// The number of `Host` headers, where an invalid one counts as two. A request with two is refused.
  private let hosts: Int
  /// True if the request asks for an upgrade to another protocol, which is never granted.
  let asksUpgrade: Bool
  /// The size of all headers including `: ` and line ends, bytes.
  private let headerBytes: Int

  init(method: String, target: String, headers: HTTPHeaders, peer: ConnectionPeer, isHTTP2: Bool) {
    self.method = method
    let target = Self.withoutAuthority(target)
    if let mark = target.utf8.firstIndex(of: UInt8(ascii: "?")) {
      path = String(target[..<mark])
      query = String(target[target.index(after: mark)...])
    } else {
      path = target
      query = nil
    }
    self.headers = headers
    self.peer = peer
    self.isHTTP2 = isHTTP2
    var requestId: String?
    var authorization: String?
    var contentType: String?
    var contentEncoding: String?
    var traceparent: String?
    var idempotencyKey: String?
    var connectTimeout: String?
    var connectVersion: String?
    var contentLength: String?
    var isChunked = false
    var hosts = 0
    var asksUpgrade = method == "CONNECT"
    var bytes = 0
    func keepFirst(_ value: String, _ header: inout String?) { if header == nil { header = value } }
    for (name, value) in headers {
      let length = name.utf8.count
      bytes += length + value.utf8.count + 4
      switch length {
      case 4 where Self.isNamed(name, "host"):
        hosts += 1
        if !Self.isHost(value) { hosts += 1 }
      case 7 where Self.isNamed(name, "upgrade"): asksUpgrade = true
      case 11 where Self.isNamed(name, "traceparent"): keepFirst(value, &traceparent)
      case 12 where Self.isNamed(name, "content-type"): keepFirst(value, &contentType)
      case 12 where Self.isNamed(name, "x-request-id"): keepFirst(value, &requestId)
      case 13 where Self.isNamed(name, "authorization"): keepFirst(value, &authorization)
      case 14 where Self.isNamed(name, "content-length"): keepFirst(value, &contentLength)
      case 15 where Self.isNamed(name, "idempotency-key"): keepFirst(value, &idempotencyKey)
      case 16 where Self.isNamed(name, "content-encoding"): keepFirst(value, &contentEncoding)
      case 17 where Self.isNamed(name, "transfer-encoding"): isChunked = true
      case 18 where Self.isNamed(name, "connect-timeout-ms"): keepFirst(value, &connectTimeout)
      case 24 where Self.isNamed(name, "connect-protocol-version"): keepFirst(value, &connectVersion)
      default: break
      }
    }
    self.requestId = requestId
    self.authorization = authorization
    self.contentType = contentType
    self.contentEncoding = contentEncoding
    self.traceparent = traceparent
    self.idempotencyKey = idempotencyKey
    self.connectTimeout = connectTimeout
    self.connectVersion = connectVersion
    // Only digits are allowed, no sign.
    self.contentLength = contentLength.flatMap { $0.utf8.allSatisfy { (48...57).contains($0) } ? Int($0) : nil }
    hasBadLength = contentLength != nil && self.contentLength == nil
    self.isChunked = isChunked
    self.hosts = hosts
    self.asksUpgrade = asksUpgrade
    headerBytes = bytes
  }

  /// Compares ignoring case. The second name must be in lower case and as long as the first one.
  private static func isNamed(_ name: String, _ lower: StaticString) -> Bool {
    var expected = lower.utf8Start
    for byte in name.utf8 {
      guard byte == expected.pointee || (65...90).contains(byte) && byte | 0x20 == expected.pointee else { return false }
      expected += 1
    }
    return true
  }

  /// Removes scheme and authority from a target in absolute form (RFC 9112 section 3.2.2).
  private static func withoutAuthority(_ target: String) -> String {
    guard target.first == "h" || target.first == "H" else { return target }
    let lower = target.prefix(8).lowercased()
    let length = lower.hasPrefix("http://") ? 7 : lower.hasPrefix("https://") ? 8 : 0
    guard length > 0 else { return target }
    let rest = target.utf8.dropFirst(length)
    guard let slash = rest.firstIndex(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }) else { return "/" }
    return rest[slash] == UInt8(ascii: "/") ? String(target[slash...]) : "/" + target[slash...]
  }

  /// True if all characters of the value may occur in a host and port.
  private static func isHost(_ value: String) -> Bool {
    value.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: hostMarks.contains(byte)
      }
    }
  }

  private static let hostMarks = Set("-._~:[]%!$&'()*+;=".utf8)

  /// The first header with that name, ignoring case.
  public func header(_ name: String) -> String? { headers.first(name: name) }

  /// The values of all headers with that name, ignoring case.
  public func values(_ name: String) -> [String] { headers[name] }

  /// True if the head announces a body.
  var announcesBody: Bool { isChunked || (contentLength ?? 0) > 0 }

  /// True if `Content-Length` exceeds the limit. Such a request is refused before its body is received.
  func announcesMore(than limit: Int) -> Bool { contentLength.map { $0 > limit } ?? false }

  /// The content type without its parameters, in lower case.
  public var mediaType: String? {
    guard let contentType else { return nil }
    if contentType == "application/json" { return contentType }
    return contentType.prefix { $0 != ";" }.trimmingSpaces().lowercased()
  }

  /// Why the request is refused because of the form of its head alone: the status of the response and the label `cause` in metrics. Nil if
  /// the head is acceptable.
  ///
  /// - Parameter needsHost: true for HTTP/1.1, which requires a `Host` header (RFC 9112 section 3.2). Several `Host` headers are always
  ///   refused.
  func refusal(_ limits: Limits, target: String, needsHost: Bool = false) -> (status: Int, cause: String)? {
    if hasBadLength || hosts > 1 || needsHost && hosts == 0 { return (400, "malformed") }
    if target.utf8.count > limits.requestTargetBytes { return (414, "target") }
    return headerBytes > limits.headerBytes || headers.count > limits.headerCount ? (431, "headers") : nil
  }
}

extension StringProtocol {
  /// The text without spaces and tabs at its ends.
  func trimmingSpaces() -> String {
    var rest = Substring(self)
    while let first = rest.first, first == " " || first == "\t" { rest = rest.dropFirst() }
    while let last = rest.last, last == " " || last == "\t" { rest = rest.dropLast() }
    return String(rest)
  }
}
