import AttributionProtocol
import HTTPClient
import Testing
import WireJSON

@testable import AttributionClient

@Suite("When a client sends a call again")
struct RPCRetryRuleTests {
  let rule = RPCRetryRule()

  func delay(_ code: RPCCode, stated: Duration? = nil, attempt: Int = 1, remaining: Duration = .seconds(60), random: Double = 1)
    -> Duration?
  {
    rule.delay(after: RPCError(code, "", retryDelay: stated), attempt: attempt, remaining: remaining, random: random)
  }

  @Test("only what may pass by itself is sent again", arguments: RPCCode.allCases)
  func codes(code: RPCCode) { #expect((delay(code) != nil) == [.unavailable, .aborted].contains(code)) }

  @Test("a limit is waited for only when it says until when")
  func limits() {
    #expect(delay(.resourceExhausted) == nil)
    #expect(delay(.resourceExhausted, stated: .seconds(2)) == .seconds(2))
  }

  @Test("four attempts at the most, the steps doubling from 100 ms")
  func steps() {
    #expect((1...4).map { delay(.unavailable, attempt: $0) } == [.milliseconds(100), .milliseconds(200), .milliseconds(400), nil])
    #expect(delay(.unavailable, random: 0) == .zero)
  }

  @Test("never sooner than the server says, never past the caller's deadline")
  func bounds() {
    #expect(delay(.unavailable, stated: .seconds(3), random: 0) == .seconds(3))
    #expect(delay(.unavailable, stated: .seconds(3), remaining: .seconds(2)) == nil)
    #expect(delay(.unavailable, remaining: .milliseconds(100)) == nil)
  }

  @Test("ten calls earn one retry, and no more than a store of them")
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

@Suite("What a client makes of answers")
struct RPCResponseReadingTests {
  @Test("fields of a newer server are left out, wherever they stand")
  func newerServer() throws {
    let text = """
      {"recoveries":[{"recoveryId":"a","newer":{"x":[1]},"uncovered":[{"startDate":"2026-01-01T00:00:00Z","also":1}]},
      {"recoveryId":"b","newer":2}],"newest":null}
      """
    let response = try ListRecoveriesResponse(response: Array(text.utf8))
    #expect(response.recoveries.map(\.recoveryId) == ["a", "b"])
    #expect(response.recoveries[0].uncovered.count == 1)
  }

  @Test("what is wrong otherwise stays an error", arguments: ["", "[]", "{", #"{"recoveries":1}"#, #"{"recoveries":[{"recoveryId":1}]}"#])
  func wrong(text: String) {
    #expect(throws: JSONError.self) { try ListRecoveriesResponse(response: Array(text.utf8)) }
  }

  @Test("a call without an answer has a code that says whether to try again")
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
  @Test("where nobody listens the call fails as unavailable")
  func nobodyThere() async {
    // Port 1 of loopback: reserved, and nothing serves it.
    let client = RPCClient(baseURL: "http://127.0.0.1:1/", token: nil, http: HTTPClient())
    do {
      _ = try await client.call(NotificationRecoveryService.GetRecovery.self, GetRecoveryRequest(recoveryId: "a"), timeout: .seconds(600))
      Issue.record("answered")
    } catch {
      #expect(error.code == .unavailable)
    }
  }

  @Test("no call is made when no time is left")
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
