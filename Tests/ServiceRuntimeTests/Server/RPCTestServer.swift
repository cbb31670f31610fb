import Cryptography
import Logging
import NIOHTTP1

@testable import ServiceRuntime

/// An internal port with one handler and one caller, without a network.
struct RPCTestServer {
  static let token = "a token that is long enough"

  let metrics = MetricsRegistry()
  let health: Health
  let server: RPCServer
  /// The path of the handler's method, with the prefix.
  let path: String

  /// - Parameter allow: what the caller may call.
  init(
    _ handler: some RPCHandler, allow: [String] = ["*"], pathPrefix: String = "", checks: [ReadinessCheck] = [],
    logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
  ) {
    let endpoint = RPCEndpoint(handler: handler)
    let plain = "/\(endpoint.fullName)"
    path = pathPrefix + plain
    health = Health(
      service: "signer", rpcServices: [endpoint.service], checks: checks, metrics: metrics, metricsAccess: MetricsAccess(MetricsSettings()))
    let callers = CallerDirectory(
      clients: [.init(name: "tests", tokenDigests: [SHA256Digest.hash(Self.token)], allow: allow)], serviceToken: nil, open: false)
    server = RPCServer(
      endpoints: [plain: endpoint], callers: LiveCallers(callers), limits: Limits(), pathPrefix: pathPrefix, health: health,
      metrics: RPCMetrics(metrics), idempotency: nil, tracer: .off, logger: logger)
  }

  /// The exchange of a call whose head was accepted, or the refusal.
  func begin(_ headers: HTTPHeaders = [:]) -> RequestAdmission {
    var all: HTTPHeaders = ["content-type": "application/json", "authorization": "Bearer \(Self.token)"]
    all.add(contentsOf: headers)
    return server.begin(IncomingRequest(method: "POST", target: path, headers: all, peer: ConnectionPeer(), isHTTP2: false))
  }

  func call(_ headers: HTTPHeaders = [:], body: String = "{}") async -> HTTPResponse {
    await Self.response(begin(headers), body: body)
  }

  /// The response to a request that is not a call.
  func request(_ method: String, _ target: String, _ headers: HTTPHeaders = [:], body: [UInt8] = []) async -> HTTPResponse {
    let request = IncomingRequest(method: method, target: target, headers: headers, peer: ConnectionPeer(), isHTTP2: false)
    switch server.begin(request) {
    case .response(let response): return response
    case .body(_, let exchange): return await exchange.respond(to: body, BodyReservation(BodyBudget(limit: 1 << 20))).response()
    }
  }

  static func response(_ admission: RequestAdmission, body: String) async -> HTTPResponse {
    switch admission {
    case .response(let response): return response
    case .body(_, let exchange):
      return await exchange.respond(to: Array(body.utf8), BodyReservation(BodyBudget(limit: 1 << 20))).response()
    }
  }
}

extension HTTPResponse {
  var text: String { String(decoding: body, as: UTF8.self) }
}
