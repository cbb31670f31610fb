import Testing
import WireJSON

@testable import AppleSimulator

@Suite struct AdServicesTests {
  private func ask(_ fixture: SimulatorFixture, _ token: String, type: String = "text/plain") -> SimulatedResponse {
    let endpoint = AdServicesEndpoint(
      tokens: fixture.parts.tokens, time: fixture.parts.time, random: fixture.parts.random)
    return endpoint.respond(
      to: SimulatedRequest(
        method: "POST", target: "/api/v1/", authority: nil, headers: [("content-type", type)], body: Array(token.utf8)))
  }

  @Test("scripted answers are returned in order, the last one repeatedly, and every call is counted")
  func script() async throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    _ = try await fixture.control(
      "adservices/tokens",
      [
        "token": "abc=",
        "answers": [
          ["status": 404], ["status": 429, "retryAfter": "7"], ["malformed": true], ["reset": true],
          ["status": 200, "body": ["attribution": false]],
        ],
      ])
    let responses = (0..<6).map { _ in ask(fixture, "abc=") }
    #expect(responses.map(\.status) == [404, 429, 200, 200, 200, 200])
    #expect((0...1000).contains(responses[0].delayMilliseconds))
    #expect(responses[1].headers.contains { $0.name == "retry-after" && $0.value == "7" })
    #expect(responses[2].json == nil)
    #expect(responses[4].json == ["attribution": false] && responses[5].json == ["attribution": false])
    let calls = try await fixture.control("adservices/tokens")["tokens"]?.arrayValue?.first?["calls"]?.arrayValue
    #expect(calls?.count == 6)
  }

  @Test("an unknown token is answered 404; a malformed token or another content type 400")
  func refusals() throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    #expect(ask(fixture, "AbC+/123==").status == 404)
    #expect(ask(fixture, "not a token!").status == 400)
    #expect(ask(fixture, "").status == 400)
    #expect(ask(fixture, "abc=", type: "application/json").status == 400)
    #expect(ask(fixture, "abc=", type: "text/plain; charset=utf-8").status == 404)
  }

  @Test("a token is valid for 24 hours in scaled time")
  func expiry() async throws {
    let fixture = try SimulatorFixture(timeScale: 86_400)
    defer { fixture.remove() }
    _ = try await fixture.control("adservices/tokens", ["token": "abc=", "preset": "detailed"])
    #expect(ask(fixture, "abc=").json?["clickDate"] != nil)
    try await Task.sleep(for: .milliseconds(1100))
    #expect(ask(fixture, "abc=").status == 404)
  }

  @Test("a percentage of faults is the same for the same seed")
  func seeds() throws {
    func strikes() throws -> [Bool] {
      let script = FaultScript()
      script.add(try Fault(["route": "adServices", "percentage": 30, "seed": 42, "status": 500]))
      return (0..<200).map { _ in script.next(names: ["adServices"], path: "/api/v1/") != nil }
    }
    let first = try strikes()
    #expect(try strikes() == first)
    #expect((30...90).contains(first.filter { $0 }.count))
    let script = FaultScript()
    script.add(try Fault(["route": "adServices", "count": 2, "status": 500]))
    #expect((0..<3).map { _ in script.next(names: ["adServices"], path: "/") != nil } == [true, true, false])
    #expect(script.next(names: ["consent"], path: "/") == nil)
  }
}
