import AttributionProtocol
import AttributionQueue
import Cryptography
import HTTPClient
import Logging
import NIOHTTP1
import RedisClient

@testable import AttributionClient
@testable import Console
@testable import ServiceRuntime

/// Answers a method with a fixed response.
struct Fixed<Method: RPCMethod>: RPCHandler {
  let response: Method.Response

  init(_ method: Method.Type, _ response: Method.Response) { self.response = response }

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response { response }
}

/// The console with methods whose answers a test defines. Its Redis is unreachable, so callers are identified by their `Authorization` header.
struct ConsoleFixture {
  static let token = "a token that is long enough"
  static let now: Int64 = 1_764_063_612_000

  let pages: ConsolePages
  let access: PageAccess

  init(
    _ handlers: [any RPCHandler], allow: [String] = ["*"], rate: RequestRate? = nil,
    services: ConsoleServices = ConsoleServices(signer: nil, recovery: nil)
  ) throws {
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let metrics = MetricsRegistry()
    var endpoints: [String: RPCEndpoint] = [:]
    for handler in handlers {
      let endpoint = RPCEndpoint(handler: handler)
      endpoints["/\(endpoint.service)/\(endpoint.name)"] = endpoint
    }
    let callers = CallerDirectory(
      clients: [.init(name: "<reader>", tokenDigests: [SHA256Digest.hash(Self.token)], allow: allow, rate: rate)],
      serviceToken: nil, open: false)
    let server = RPCServer(
      endpoints: endpoints, callers: LiveCallers(callers), limits: Limits(), pathPrefix: "",
      health: Health(
        service: "verifier", rpcServices: [], checks: [], metrics: metrics, metricsAccess: MetricsAccess(MetricsSettings())),
      metrics: RPCMetrics(metrics), idempotency: nil, tracer: .off, logger: logger)
    access = PageAccess(server: server)
    pages = try ConsolePages(
      settings: ConsoleSettings(), redis: RedisClient(url: try RedisURL("redis://127.0.0.1:1"), logger: logger), services: services,
      isTLS: false, pathPrefix: "", metrics: metrics, version: "0", now: { Self.now })
  }

  static var unreachable: RPCClient { RPCClient(baseURL: "http://127.0.0.1:1", token: nil, http: HTTPClient(configuration: .init())) }

  /// The answer to a request; nil if the path does not belong to the console.
  func response(_ method: String, _ target: String, _ headers: HTTPHeaders = [:], body: String = "") async -> HTTPResponse? {
    let request = IncomingRequest(method: method, target: target, headers: headers, peer: ConnectionPeer(), isHTTP2: false)
    switch pages.admission(request, access) {
    case nil: return nil
    case .response(let response): return response
    case .body(_, let exchange):
      return await exchange.respond(to: Array(body.utf8), BodyReservation(BodyBudget(limit: 1 << 20))).response()
    }
  }

  /// The status and HTML of a page, for a caller with a valid token.
  func page(_ target: String) async -> (status: Int, html: String) {
    let response = await response("GET", target, ["authorization": "Bearer \(Self.token)"])
    return (response?.status ?? 0, String(decoding: response?.body ?? [], as: UTF8.self))
  }
}
