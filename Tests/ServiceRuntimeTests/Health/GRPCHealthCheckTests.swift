import AttributionProtocol
import NIOHTTP1
import Testing

@testable import ServiceRuntime

private struct NoKeysHandler: ImmediateRPCHandler {
  typealias Method = SignerService.ListSigningKeys

  func respond(to request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response { Method.Response(keys: []) }
}

@Suite struct GRPCHealthCheckTests {
  private let server = RPCTestServer(NoKeysHandler())

  private func check(_ body: [UInt8], _ headers: HTTPHeaders = [:]) async -> HTTPResponse {
    var all: HTTPHeaders = ["content-type": "application/json"]
    all.add(contentsOf: headers)
    return await server.request("POST", "/grpc.health.v1.Health/Check", all, body: body)
  }

  private func check(_ body: String) async -> HTTPResponse { await check(Array(body.utf8)) }

  @Test func `A service that is ready is SERVING, and one that starts or drains is not`() async {
    #expect(await check("{}").text == #"{"status":"NOT_SERVING"}"#)
    server.health.setStarted()
    for body in ["{}", #"{"service":""}"#, #"{"service":null}"#, #"{"service":"attribution.signer.v1.SignerService"}"#] {
      #expect(await check(body).text == #"{"status":"SERVING"}"#, "\(body)")
    }
    server.health.setDraining()
    #expect(await check("{}").text == #"{"status":"NOT_SERVING"}"#)
  }

  @Test func `An unknown service is not found, and a request that cannot be read is refused`() async throws {
    #expect(await check(#"{"service":"other"}"#).status == 404)
    for body in [#"{"service":1}"#, #"{"service":{}}"#, "[]", "", "nonsense"] { #expect(await check(body).status == 400, "\(body)") }
    #expect(await check(Array("{}".utf8), ["content-encoding": "br"]).status == 501)
    #expect(await check([1, 2], ["content-encoding": "gzip"]).status == 400)
  }

  @Test func `The request may be compressed`() async throws {
    let packed = try #require(Gzip.deflate(Array(#"{"service":"other"}"#.utf8)))
    #expect(await check(packed, ["content-encoding": "gzip"]).status == 404)
  }
}
