import AttributionProtocol
import Cryptography
import Logging
import NIOHTTP1
import Testing

@testable import ServiceRuntime

private struct NoKeys: ImmediateRPCHandler {
  typealias Method = SignerService.ListSigningKeys

  func respond(to request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response { Method.Response(keys: []) }
}

@Suite struct RPCServerTests {
  private static let token = "a token that is long enough"
  private static let path = SignerService.ListSigningKeys.path

  private let metrics = MetricsRegistry()

  private func server(metricsToken: String? = nil) -> RPCServer {
    let endpoint = RPCEndpoint(handler: NoKeys())
    let callers = CallerDirectory(
      clients: [.init(name: "tests", tokenDigests: [SHA256Digest.hash(Self.token)], allow: ["*"])], serviceToken: nil, open: false)
    var settings = MetricsSettings()
    settings.tokenDigests = metricsToken.map { [SHA256Digest.hash($0)] } ?? []
    return RPCServer(
      endpoints: [Self.path: endpoint], callers: LiveCallers(callers), limits: Limits(), pathPrefix: "",
      health: Health(service: "signer", rpcServices: [], checks: [], metrics: metrics, metricsAccess: MetricsAccess(settings)),
      metrics: RPCMetrics(metrics), idempotency: nil, tracer: .off, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  private func response(
    of server: RPCServer, _ method: String, _ target: String, _ headers: HTTPHeaders = [:], body: [UInt8] = []
  ) async -> HTTPResponse {
    let request = IncomingRequest(method: method, target: target, headers: headers, peer: ConnectionPeer(), isHTTP2: false)
    switch server.begin(request) {
    case .response(let response): return response
    case .body(_, let exchange):
      return await exchange.respond(to: body, BodyReservation(BodyBudget(limit: 1 << 20))).response()
    }
  }

  private func call(_ server: RPCServer, _ headers: HTTPHeaders = [:], body: [UInt8]) async -> Int {
    var all: HTTPHeaders = ["content-type": "application/json", "authorization": "Bearer \(Self.token)"]
    all.add(contentsOf: headers)
    return await response(of: server, "POST", Self.path, all, body: body).status
  }

  // MARK: Metrics of calls

  @Test func `The size of a request is that of its inflated message; a request that cannot be read has none`() async throws {
    let server = server()
    let packed = try #require(Gzip.deflate(Array(("{" + String(repeating: " ", count: 998) + "}").utf8)))
    #expect(await call(server, body: Array("{}".utf8)) == 200)
    #expect(await call(server, ["content-encoding": "gzip"], body: packed) == 200)
    #expect(await call(server, ["content-encoding": "gzip"], body: Array(packed.dropLast())) == 400)
    let labels = #"{service="attribution.signer.v1.SignerService",method="ListSigningKeys""#
    let text = await metrics.text()
    for line in ["_bucket\(labels),le=\"256.0\"} 1", "_bucket\(labels),le=\"1024.0\"} 2", "_sum\(labels)} 1002", "_count\(labels)} 2"] {
      #expect(text.contains("attribution_rpc_server_request_bytes\(line)\n"), "\(line)")
    }
  }

  // MARK: Access to the metrics

  @Test func `Without a configured token everyone may read the metrics`() async {
    #expect(await response(of: server(), "GET", "/metrics").status == 200)
  }

  @Test func `With a configured token only its bearer may read the metrics, and everyone the health routes`() async {
    let server = server(metricsToken: "for the metrics")
    for header in [nil, "Bearer another", "Bearer \(Self.token)"] {
      let refused = await response(of: server, "GET", "/metrics", header.map { ["authorization": $0] } ?? [:])
      #expect(refused.status == 401 && refused.headers.first(name: "www-authenticate") == "Bearer")
      #expect(String(decoding: refused.body, as: UTF8.self).contains("metrics.tokenSHA256"))
    }
    let read = await response(of: server, "GET", "/metrics", ["authorization": "Bearer for the metrics"])
    #expect(read.status == 200 && !read.body.isEmpty)
    #expect(await response(of: server, "GET", "/livez").status == 200)
    // The token of the metrics is not that of a caller.
    let headers: HTTPHeaders = ["content-type": "application/json", "authorization": "Bearer for the metrics"]
    #expect(await response(of: server, "POST", Self.path, headers, body: Array("{}".utf8)).status == 401)
  }
}
