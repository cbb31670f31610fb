import CCurl

/// The response of a server.
public struct HTTPClientResponse: Sendable {
  public let status: Int
  /// The headers in their order.
  public let headers: [(name: String, value: String)]
  public let body: [UInt8]
  /// `1.1` or `2`.
  public let httpVersion: String

  public init(status: Int, headers: [(name: String, value: String)], body: [UInt8], httpVersion: String) {
    self.status = status
    self.headers = headers
    self.body = body
    self.httpVersion = httpVersion
  }

  /// The value of the first header with that name, in upper or lower case; nil if there is none.
  public subscript(header name: String) -> String? {
    headers.first { $0.name.lowercased() == name.lowercased() }?.value
  }
}

extension HTTPClientResponse {
  /// The time in the `Date` header (RFC 9110, 6.6.1), in seconds since 1970; nil if the header is missing or invalid.
  public var date: Int64? {
    guard let header = self[header: "Date"] else { return nil }
    let date = curl_getdate(header, nil)
    return date < 0 ? nil : Int64(date)
  }

  /// The difference up to which two clocks count as equal, seconds: the `Date` header has whole seconds, and servers do not write it anew for
  /// each response.
  public static let clockTolerance: Int64 = 2

  /// By how many seconds our clock is ahead of the server's, according to the `Date` header; negative if it is behind, and 0 if the server's
  /// time lies between our two times. Nil if the header is missing or invalid.
  ///
  /// - Parameters:
  ///   - sentAt: our time of the request, milliseconds since 1970.
  ///   - receivedAt: our time of the response, milliseconds since 1970.
  public func clockDifference(sentAt: Int64, receivedAt: Int64) -> Int64? {
    guard let date else { return nil }
    return max(0, sentAt / 1000 - date) + min(0, receivedAt / 1000 - date)
  }

  /// The wait in `Retry-After`, which the server gives in seconds or as a date (RFC 9110, 10.2.3); nil if the header is missing or invalid.
  /// Seconds count up to ten years, so that a caller's calculations in 64 bits cannot overflow.
  ///
  /// - Parameter now: the present time, in seconds since 1970.
  public func retryAfter(now: Int64) -> Duration? {
    guard let header = self[header: "Retry-After"] else { return nil }
    let text = String(header.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    if !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) { return Int64(text).map { .seconds(min($0, 10 * 365 * 86_400)) } }
    // curl would parse a bare number as a date too, so a comma is required. The obsolete date format asctime has none and is refused.
    guard text.contains(",") else { return nil }
    let date = curl_getdate(text, nil)
    return date < 0 ? nil : .seconds(max(0, Int64(date) - now))
  }
}
