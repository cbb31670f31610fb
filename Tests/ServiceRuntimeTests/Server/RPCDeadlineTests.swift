import AttributionProtocol
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

@testable import ServiceRuntime

/// Does not react to cancellation: its work goes on until the test releases it.
private final class DeafHandler: RPCHandler {
  typealias Method = SignerService.ListSigningKeys
  private let gate = AsyncStream<Void>.makeStream()
  private let ended = AsyncStream<Bool>.makeStream()

  func release() { gate.continuation.finish() }

  /// Waits for the end of the work. True if it was cancelled.
  func wasCancelled() async -> Bool { await ended.stream.first { _ in true } ?? false }

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    await Task { [gate] in for await _ in gate.stream {} }.value
    ended.continuation.yield(Task.isCancelled)
    return Method.Response(keys: [])
  }
}

private struct WaitingHandler: RPCHandler {
  typealias Method = SignerService.ListSigningKeys
  static let waits = true

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    // Longer than the method's time limit.
    try? await Task.sleep(for: .seconds(600))
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

/// Waits before the first item until the test releases it.
private final class LateBatchHandler: BatchRPCHandler {
  typealias Method = SignerService.SignOffers
  typealias Item = OfferItem
  typealias ItemResult = OfferResult
  let answered = Mutex(0)
  private let gate = AsyncStream<Void>.makeStream()

  func release() { gate.continuation.finish() }

  func resources(_ context: RPCContext) async throws(RPCError) { await Task { [gate] in for await _ in gate.stream {} }.value }

  func respond(to item: OfferItem, _ resources: Void, _ context: RPCContext) async throws(RPCError) -> OfferResult {
    answered.withLock { $0 += 1 }
    return OfferResult()
  }

  func failure(_ error: RPCError) -> OfferResult { OfferResult(error: ItemError(error)) }
}

private struct SigningHandler: RPCHandler {
  typealias Method = SignerService.SignOffers

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response { Method.Response(results: []) }
}

@Suite struct RPCDeadlineTests {
  @Test func `A call is answered at its deadline, even if its work does not react to cancellation`() async throws {
    let handler = DeafHandler()
    let server = RPCTestServer(handler)
    let response = await server.call(["connect-timeout-ms": "100"])
    #expect(response.status == RPCCode.deadlineExceeded.httpStatus && response.text.contains("deadline_exceeded"))
    #expect(await server.metrics.text().contains(#"method="ListSigningKeys",code="deadline_exceeded"} 1"#))
    handler.release()
    #expect(await handler.wasCancelled())
    #expect(await server.call().status == 200)
  }

  @Test func `The memory of a body is reserved until the work ends, also if the answer came before`() async throws {
    let handler = DeafHandler()
    let budget = BodyBudget(limit: 1 << 20)
    func answer() async -> HTTPResponse? {
      guard case .body(_, let exchange) = RPCTestServer(handler).begin(["connect-timeout-ms": "100"]) else { return nil }
      let reservation = BodyReservation(budget)
      #expect(reservation.reserve(1000))
      return await exchange.respond(to: Array("{}".utf8), reservation).response()
    }
    #expect(await answer()?.status == RPCCode.deadlineExceeded.httpStatus)
    #expect(budget.bytes == 1000)
    handler.release()
    _ = await handler.wasCancelled()
    while budget.bytes > 0 { try await Task.sleep(for: .milliseconds(5)) }
  }

  @Test func `A batch does no item after its deadline`() async throws {
    let handler = LateBatchHandler()
    let budget = BodyBudget(limit: 1 << 20)
    func answer(_ timeout: String) async -> HTTPResponse? {
      guard case .body(_, let exchange) = RPCTestServer(handler).begin(["connect-timeout-ms": "\(timeout)"]) else { return nil }
      let reservation = BodyReservation(budget)
      #expect(reservation.reserve(1000))
      let items = Array(repeating: "{}", count: 320).joined(separator: ",")
      return await exchange.respond(to: Array(#"{"items":[\#(items)]}"#.utf8), reservation).response()
    }
    #expect(await answer("100")?.status == RPCCode.deadlineExceeded.httpStatus)
    handler.release()
    while budget.bytes > 0 { try await Task.sleep(for: .milliseconds(5)) }
    #expect(handler.answered.withLock { $0 } == 0)
    #expect(await answer("10000")?.status == 200)
    #expect(handler.answered.withLock { $0 } == 320)
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
    async let response = server.call()
    try await Task.sleep(for: .milliseconds(100))
    server.server.waiting.end()
    #expect(await response.status == 200)
    // A call that was admitted before.
    #expect(await server.call().status == 200)
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
