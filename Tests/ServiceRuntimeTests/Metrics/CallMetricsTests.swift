import AttributionClient
import AttributionProtocol
import HTTPClient
import Synchronization
import Testing
import Traces

@testable import ServiceRuntime

/// Answers each request with the next of these responses, and records the headers `traceparent`.
private final class Scripted: HTTPSender {
  private let responses: Mutex<ArraySlice<HTTPClientResponse>>
  private let parents = Mutex<[String?]>([])

  init(_ responses: [(status: Int, body: String)]) {
    let made = responses.map { HTTPClientResponse(status: $0.status, headers: [], body: Array($0.body.utf8), httpVersion: "1.1") }
    self.responses = Mutex(made[...])
  }

  var traceparents: [String?] { parents.withLock { $0 } }

  func send(_ request: HTTPClientRequest) async throws(HTTPClientError) -> HTTPClientResponse {
    parents.withLock { $0.append(request.headers.first { $0.0 == "traceparent" }?.1) }
    guard let response = responses.withLock({ $0.popFirst() }) else { throw .couldNotConnect("nobody") }
    return response
  }
}

@Suite struct CallMetricsTests {
  private typealias ListSigningKeys = SignerService.ListSigningKeys

  private let metrics = MetricsRegistry()

  private func client(_ http: Scripted) -> RPCClient {
    RPCClient(
      baseURL: "http://signer:8091", token: nil, transport: http,
      observer: MeasuredCalls(metrics: CallMetrics(of: .signer, metrics)))
  }

  private func lines(_ name: String) async -> [String] {
    await metrics.text().split(separator: "\n").map(String.init).filter { $0.hasPrefix(name) }
  }

  @Test func `A call is counted and measured by target, method and code, without the address`() async throws {
    let client = client(Scripted([(200, #"{"keys":[]}"#), (200, #"{"keys":[]}"#), (404, #"{"code":"not_found"}"#)]))
    for _ in 0..<2 { _ = try await client.call(ListSigningKeys.self, ListSigningKeysRequest()) }
    await #expect(throws: RPCError.self) { _ = try await client.call(ListSigningKeys.self, ListSigningKeysRequest()) }
    #expect(
      await lines("attribution_rpc_client_requests_total{") == [
        #"attribution_rpc_client_requests_total{target="signer",method="ListSigningKeys",code="not_found"} 1"#,
        #"attribution_rpc_client_requests_total{target="signer",method="ListSigningKeys",code="ok"} 2"#,
      ])
    #expect(
      await lines("attribution_rpc_client_duration_seconds_count") == [
        #"attribution_rpc_client_duration_seconds_count{target="signer",method="ListSigningKeys",code="not_found"} 1"#,
        #"attribution_rpc_client_duration_seconds_count{target="signer",method="ListSigningKeys",code="ok"} 2"#,
      ])
    #expect(await lines("attribution_rpc_client_retries_total").isEmpty)
    #expect(await !metrics.text().contains("8091"))
  }

  @Test func `A repeated attempt is counted by the code before it, and the call once by its result`() async throws {
    let client = client(Scripted([(503, #"{"code":"unavailable"}"#), (200, #"{"keys":[]}"#)]))
    _ = try await client.call(ListSigningKeys.self, ListSigningKeysRequest())
    #expect(
      await lines("attribution_rpc_client_retries_total{") == [
        #"attribution_rpc_client_retries_total{target="signer",method="ListSigningKeys",code="unavailable"} 1"#
      ])
    #expect(
      await lines("attribution_rpc_client_requests_total{") == [
        #"attribution_rpc_client_requests_total{target="signer",method="ListSigningKeys",code="ok"} 1"#
      ])
  }

  @Test func `A call without an answer is counted with the code that its caller gets`() async throws {
    let client = client(Scripted([]))
    await #expect(throws: RPCError.self) {
      _ = try await client.call(ListSigningKeys.self, ListSigningKeysRequest(), timeout: .milliseconds(1))
    }
    let counted = await lines("attribution_rpc_client_requests_total{")
    #expect(counted.count == 1 && counted.first?.hasSuffix(#"code="ok"} 1"#) == false)
  }

  @Test func `The caller's trace context is kept, and a recorded span replaces it`() async throws {
    let http = Scripted([(200, #"{"keys":[]}"#), (200, #"{"keys":[]}"#)])
    let client = client(http)
    let given = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    _ = try await client.call(ListSigningKeys.self, ListSigningKeysRequest(), traceparent: given)
    let tracer = Tracer(sampler: Sampler(ratio: 1), buffer: SpanBuffer(capacity: 4, maxBatchSize: 4))
    let parent = try #require(SpanContext(traceparent: given))
    let span = try #require(tracer.span("w", .internal, parent, childOf: nil))
    _ = try await Span.$current.withValue(span) {
      try await client.call(ListSigningKeys.self, ListSigningKeysRequest(), traceparent: given)
    }
    #expect(http.traceparents.count == 2 && http.traceparents[0] == given)
    let child = try #require(http.traceparents[1])
    #expect(child.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-") && child != given)
  }
}
