/// The result of a delivery attempt; the values are Apple's (*sendAttemptResult*).
public enum AttemptResult: String, Sendable {
  case success = "SUCCESS"
  case timedOut = "TIMED_OUT"
  case tlsIssue = "TLS_ISSUE"
  case circularRedirect = "CIRCULAR_REDIRECT"
  case noResponse = "NO_RESPONSE"
  case socketIssue = "SOCKET_ISSUE"
  case unsupportedCharset = "UNSUPPORTED_CHARSET"
  case invalidResponse = "INVALID_RESPONSE"
  case prematureClose = "PREMATURE_CLOSE"
  case unsuccessfulStatus = "UNSUCCESSFUL_HTTP_RESPONSE_CODE"
  case other = "OTHER"
}

/// The answer to a delivery attempt.
public struct OutgoingResponse: Sendable {
  /// The HTTP status; nil if no valid answer was received.
  public var status: Int?
  public var result: AttemptResult
}
