import AttributionProtocol
import NIOHTTP1
import Testing

@testable import ServiceRuntime

private struct NoKeysHandler: ImmediateRPCHandler {
  typealias Method = SignerService.ListSigningKeys

  func respond(to request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response { Method.Response(keys: []) }
}

@Suite struct RPCRefusalTests {
  @Test func `A call to an instance that ends is refused with a reason, and may be repeated`() async {
    let server = RPCTestServer(NoKeysHandler())
    server.health.setDraining()
    #expect(await server.call().status == 200)
    server.health.setEnding()
    let refused = await server.call()
    #expect(refused.status == 503 && refused.text.contains("DRAINING"))
    #expect(refused.headers.first(name: "retry-after") != nil)
  }

  @Test func `A caller that is not allowed the method is told so`() async {
    let refused = await RPCTestServer(NoKeysHandler(), allow: ["attribution.signer.v1.SignerService/SignImpressions"]).call()
    #expect(refused.status == 403 && refused.text.contains("CALLER_NOT_ALLOWED"))
  }

  @Test func `Methods are below the path prefix, and nowhere else`() async {
    let server = RPCTestServer(NoKeysHandler(), pathPrefix: "/attribution")
    #expect(server.path == "/attribution/attribution.signer.v1.SignerService/ListSigningKeys")
    #expect(await server.call().status == 200)
    let headers: HTTPHeaders = ["content-type": "application/json", "authorization": "Bearer \(RPCTestServer.token)"]
    let outside = String(server.path.dropFirst("/attribution".count))
    #expect(await server.request("POST", outside, headers, body: Array("{}".utf8)).status == 404)
    #expect(await server.request("GET", "/livez").status == 200)
  }

  @Test(arguments: ["0", "12345678901", "1.5", ""])
  func `A time limit that is over or no number is refused`(_ text: String) async {
    let refused = await RPCTestServer(NoKeysHandler()).call(["connect-timeout-ms": text])
    #expect(refused.text.contains(text == "0" ? "deadline_exceeded" : "invalid_argument"))
  }
}
