import AttributionProtocol
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

@testable import ServiceRuntime

/// Does not react to cancellation.
private final class DeafHandler: RPCHandler {
  typealias Method = SignerService.ListSigningKeys
  let wasCancelled = Mutex(false)

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    _ = await Task { try? await Task.sleep(for: .seconds(1)) }.value
    let isCancelled = Task.isCancelled
    wasCancelled.withLock { $0 = isCancelled }
    return Method.Response(keys: [])
  }
}

private struct WaitingHandler: RPCHandler {
  typealias Method = SignerService.ListSigningKeys
  static let waits = true

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try? await Task.sleep(for: .seconds(8))
    return Method.Response(keys: [])
  }
}

private final class CountingHandler: ImmediateRPCHandler {
  typealias Method = SignerService.ListSigningKeys
  let calls = Mutex(0)

  func respond(to request: Method.Request, _ context: RPCContext) throws(RPCError) -> Method.Response {
    calls.withLock { $0 += 1 }
    return Method.Response(keys: [])
  }
}

private struct SigningHandler: RPCHandler {
  typealias Method = SignerService.SignOffers

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response { Method.Response(results: []) }
}

@Suite struct RPCDeadlineTests {
  @Test func `A call is answered at its deadline, even if its work does not react to cancellation`() async throws {
    let handler = DeafHandler()
    let server = RPCTestServer(handler)
    let start = ContinuousClock.now
    let response = await server.call(["connect-timeout-ms": "100"])
    let time = ContinuousClock.now - start
    #expect(response.status == RPCCode.deadlineExceeded.httpStatus && response.text.contains("deadline_exceeded"))
    #expect(time >= .milliseconds(100) && time < .milliseconds(700), "\(time)")
    #expect(await server.metrics.text().contains(#"method="ListSigningKeys",code="deadline_exceeded"} 1"#))
    try await Task.sleep(for: .milliseconds(1500))
    #expect(handler.wasCancelled.withLock { $0 })
    #expect(await server.call(["connect-timeout-ms": "5000"]).status == 200)
  }

  @Test func `A handler that answers at once is not asked after the deadline`() async throws {
    let handler = CountingHandler()
    let server = RPCTestServer(handler)
    guard case .body(_, let exchange) = server.begin(["connect-timeout-ms": "20"]) else {
      Issue.record("refused by its head")
      return
    }
    // The body comes late.
    try await Task.sleep(for: .milliseconds(60))
    let response = await exchange.respond(to: Array("{}".utf8), BodyReservation(BodyBudget(limit: 1 << 20))).response()
    #expect(response.status == RPCCode.deadlineExceeded.httpStatus)
    #expect(exchange.refuse(.timedOut).status == RPCCode.deadlineExceeded.httpStatus)
    #expect(handler.calls.withLock { $0 } == 0)
    #expect(await server.call().status == 200)
  }

  @Test func `A body may take no longer than the rest of the call's time`() throws {
    guard case .body(_, let exchange) = RPCTestServer(CountingHandler()).begin(["connect-timeout-ms": "5000"]) else {
      Issue.record("refused by its head")
      return
    }
    #expect(exchange.bodyTime(.seconds(1)) == .seconds(1))
    let rest = exchange.bodyTime(.seconds(30))
    #expect(rest > .seconds(3) && rest <= .seconds(5))
    #expect(SimpleExchange { _, _ in HTTPResponse(status: 200) }.bodyTime(.seconds(30)) == .seconds(30))
  }

  @Test func `Calls that wait end when the service ends`() async throws {
    let server = RPCTestServer(WaitingHandler())
    let start = ContinuousClock.now
    async let response = server.call()
    try await Task.sleep(for: .milliseconds(100))
    server.server.waiting.end()
    #expect(await response.status == 200)
    // A call that was admitted before.
    #expect(await server.call().status == 200)
    #expect(ContinuousClock.now - start < .seconds(4))
  }

  @Test func `Work ends with its caller unless it has an idempotency key that counts`() {
    let (waiting, other, signing) = (RPCTestServer(WaitingHandler()), RPCTestServer(DeafHandler()), RPCTestServer(SigningHandler()))
    func abandonment(_ admission: RequestAdmission) -> Abandonment? {
      if case .body(_, let exchange) = admission { exchange.abandonment } else { nil }
    }
    #expect(abandonment(waiting.begin()) == .isCancelledAtInputEnd)
    #expect(abandonment(other.begin()) == .isCancelled)
    #expect(abandonment(signing.begin()) == .isCancelled)
    #expect(abandonment(signing.begin(["idempotency-key": "k"])) == .finishes)
    // Methods that only read ignore the key.
    #expect(abandonment(waiting.begin(["idempotency-key": "k"])) == .isCancelledAtInputEnd)
  }
}
