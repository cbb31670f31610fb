import AttributionProtocol
public import NIOHTTP1
import WireJSON

/// A response before it is encoded for HTTP/1.1 or HTTP/2.
public struct HTTPResponse: Sendable {
  public var status: Int
  /// All headers except those that are added when the response is encoded: `Content-Length`, `Date`, `Connection` and `X-Request-Id`.
  public var headers: HTTPHeaders
  /// The value of `X-Request-Id`. It is not among ``headers``, so that most responses can share one header list.
  public var requestId: String?
  public var body: [UInt8]

  public init(status: Int, headers: HTTPHeaders = HTTPHeaders(), body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// The headers with `X-Request-Id`.
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

  /// A response with the error's JSON, with the status of its code unless `status` is given, and with `Retry-After` if the error has a
  /// delay.
  public static func error(_ error: RPCError, status: Int? = nil) -> HTTPResponse {
    var response = json(status ?? error.code.httpStatus, error.json)
    if let seconds = error.retryAfterSeconds { response.headers.add(name: "retry-after", value: String(seconds)) }
    if error.code == .unauthenticated { response.headers.add(name: "www-authenticate", value: "Bearer") }
    return response
  }
}
