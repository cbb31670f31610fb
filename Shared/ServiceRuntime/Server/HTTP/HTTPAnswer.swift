import AttributionProtocol
public import NIOHTTP1
import WireJSON

/// An answer before it is written.
public struct HTTPAnswer: Sendable {
  public var status: Int
  /// Without the length, which follows from the body.
  public var headers: HTTPHeaders
  /// `X-Request-Id`, beside the other headers so that those of most answers are made once.
  public var requestId: String?
  public var body: [UInt8]

  public init(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Every header, as it is sent.
  var allHeaders: HTTPHeaders {
    guard let requestId else { return headers }
    var all = headers
    all.add(name: "x-request-id", value: requestId)
    return all
  }

  private static let jsonHeaders: HTTPHeaders = ["content-type": "application/json"]

  /// A JSON body.
  public static func json(_ status: Int, _ body: [UInt8]) -> HTTPAnswer {
    HTTPAnswer(status: status, headers: jsonHeaders, body: body)
  }

  /// The error's JSON, by default with its code's status, and `Retry-After` where the error names a delay.
  public static func error(_ error: RPCError, status: Int? = nil) -> HTTPAnswer {
    var answer = json(status ?? error.code.httpStatus, error.json)
    if let seconds = error.retryAfterSeconds { answer.headers.add(name: "retry-after", value: String(seconds)) }
    if error.code == .unauthenticated { answer.headers.add(name: "www-authenticate", value: "Bearer") }
    return answer
  }
}
