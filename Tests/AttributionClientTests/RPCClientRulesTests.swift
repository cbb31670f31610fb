import AttributionProtocol
import HTTPClient
import Testing
import WireJSON

@testable import AttributionClient

@Suite("Retries of a client")
struct RPCRetryRuleTests {
  let rule = RPCRetryRule()

  func delay(_ code: RPCCode, stated: Duration? = nil, attempt: Int = 1, remaining: Duration = .seconds(60), random: Double = 1)
    -> Duration?
  {
    rule.delay(after: RPCError(code, "", retryDelay: stated), attempt: attempt, remaining: remaining, random: random)
  }

  @Test("only temporary errors are retried", arguments: RPCCode.allCases)
  func codes(code: RPCCode) { #expect((delay(code) != nil) == [.unavailable, .aborted].contains(code)) }

  @Test("a rate limit is retried only if it has a retry delay")
  func limits() {
    #expect(delay(.resourceExhausted) == nil)
    #expect(delay(.resourceExhausted, stated: .seconds(2)) == .seconds(2))
  }

  @Test("at most four attempts, with waits that double from 100 ms")
  func steps() {
    #expect((1...4).map { delay(.unavailable, attempt: $0) } == [.milliseconds(100), .milliseconds(200), .milliseconds(400), nil])
    #expect(delay(.unavailable, random: 0) == .zero)
  }

  @Test("a retry is never earlier than the server's delay and never after the caller's deadline")
  func bounds() {
    #expect(delay(.unavailable, stated: .seconds(3), random: 0) == .seconds(3))
    #expect(delay(.unavailable, stated: .seconds(3), remaining: .seconds(2)) == nil)
    #expect(delay(.unavailable, remaining: .milliseconds(100)) == nil)
  }

  @Test("ten calls allow one retry, up to a maximum")
  func budget() {
    let budget = RetryBudget(initial: 1)
    #expect(budget.spend() && !budget.spend())
    for _ in 0..<9 { budget.earn() }
    #expect(!budget.spend())
    budget.earn()
    #expect(budget.spend() && !budget.spend())
    for _ in 0..<100_000 { budget.earn() }
    var retries = 0
    while budget.spend() { retries += 1 }
    #expect(retries == 100)
  }
}

@Suite("Decoding of answers")
struct RPCResponseReadingTests {
  @Test("unknown fields of a newer server are ignored at any place")
  func newerServer() throws {
    let text = """
      {"recoveries":[{"recoveryId":"a","newer":{"x":[1]},"uncovered":[{"startDate":"2026-01-01T00:00:00Z","also":1}]},
      {"recoveryId":"b","newer":2}],"newest":null}
      """
    let response = try ListRecoveriesResponse(response: Array(text.utf8))
    #expect(response.recoveries.map(\.recoveryId) == ["a", "b"])
    #expect(response.recoveries[0].uncovered.count == 1)
  }

  @Test("other invalid content is an error", arguments: ["", "[]", "{", #"{"recoveries":1}"#, #"{"recoveries":[{"recoveryId":1}]}"#])
  func wrong(text: String) {
    #expect(throws: JSONError.self) { try ListRecoveriesResponse(response: Array(text.utf8)) }
  }

  @Test("a call without an answer has a code that shows whether it can be retried")
  func noAnswer() {
    #expect(RPCError(HTTPClientError.couldNotConnect("x"), calling: "M").code == .unavailable)
    #expect(RPCError(HTTPClientError.connectionReset("x"), calling: "M").code == .unavailable)
    #expect(RPCError(HTTPClientError.timedOut, calling: "M").code == .deadlineExceeded)
    #expect(RPCError(HTTPClientError.cancelled, calling: "M").code == .canceled)
    #expect(RPCError(HTTPClientError.tooLarge(limit: 1), calling: "M").retryDelay == nil)
    #expect(RPCError(HTTPClientError.tls("x"), calling: "M").code == .unknown)
  }
}

@Suite("Calling another service")
struct RPCClientTests {
  @Test("without a listener the call fails with unavailable")
  func nobodyThere() async {
    // Port 1 of loopback is reserved, and no server listens on it.
    let client = RPCClient(baseURL: "http://127.0.0.1:1/", token: nil, http: HTTPClient())
    do {
      _ = try await client.call(NotificationRecoveryService.GetRecovery.self, GetRecoveryRequest(recoveryId: "a"), timeout: .seconds(600))
      Issue.record("answered")
    } catch {
      #expect(error.code == .unavailable)
    }
  }

  @Test("no call is made after the deadline")
  func noTime() async {
    let client = RPCClient(baseURL: "http://127.0.0.1:1", token: nil, http: HTTPClient())
    do {
      _ = try await client.call(NotificationRecoveryService.GetRecovery.self, GetRecoveryRequest(), timeout: .zero)
      Issue.record("answered")
    } catch {
      #expect(error.code == .deadlineExceeded)
    }
  }
}
