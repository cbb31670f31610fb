import AttributionProtocol
public import NIOHTTP1
import WireJSON

/// A response before it is encoded.
public struct HTTPResponse: Sendable {
  public var status: Int
  /// All headers but the length, which follows from the body.
  public var headers: HTTPHeaders
  /// `X-Request-Id`. It is kept apart so that most responses can share one header list.
  public var requestId: String?
  public var body: [UInt8]

  public init(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// All headers as they are sent.
  var allHeaders: HTTPHeaders {
    guard let requestId else { return headers }
    var all = headers
    all.add(name: "x-request-id", value: requestId)
    return all
  }

  private static let jsonHeaders: HTTPHeaders = ["content-type": "application/json"]

  /// A response with a JSON body.
  public static func json(_ status: Int, _ body: [UInt8]) -> HTTPResponse {
    HTTPResponse(status: status, headers: jsonHeaders, body: body)
  }

  /// A response with the error's JSON, by default with the status of its code, and with `Retry-After` if the error names a delay.
  public static func error(_ error: RPCError, status: Int? = nil) -> HTTPResponse {
    var response = json(status ?? error.code.httpStatus, error.json)
    if let seconds = error.retryAfterSeconds { response.headers.add(name: "retry-after", value: String(seconds)) }
    if error.code == .unauthenticated { response.headers.add(name: "www-authenticate", value: "Bearer") }
    return response
  }
}
