import AttributionProtocol
public import HTTPTypes
import WireJSON

/// An answer before it is written.
public struct HTTPAnswer: Sendable {
  public var status: Int
  public var headers: HTTPFields
  public var body: [UInt8]

  public init(status: Int, headers: HTTPFields = [:], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// A JSON body.
  public static func json(_ status: Int, _ body: [UInt8]) -> HTTPAnswer {
    HTTPAnswer(status: status, headers: [.contentType: "application/json"], body: body)
  }

  /// The error's JSON, by default with its code's status, and `Retry-After` where the error names a delay.
  public static func error(_ error: RPCError, status: Int? = nil) -> HTTPAnswer {
    var answer = json(status ?? error.code.httpStatus, error.json)
    if let seconds = error.retryAfterSeconds { answer.headers[.retryAfter] = String(seconds) }
    if error.code == .unauthenticated { answer.headers[.wwwAuthenticate] = "Bearer" }
    return answer
  }
}

extension HTTPField.Name {
  static let idempotencyKey = Self("Idempotency-Key")!
  static let idempotencyReplayed = Self("Idempotency-Replayed")!
  static let connectProtocolVersion = Self("Connect-Protocol-Version")!
  static let connectTimeout = Self("Connect-Timeout-Ms")!
  static let acceptPost = Self("Accept-Post")!
  static let requestId = Self("X-Request-Id")!
  static let traceparent = Self("traceparent")!
}
