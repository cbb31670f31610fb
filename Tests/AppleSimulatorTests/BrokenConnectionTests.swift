import HTTPClient
import Testing
import WireJSON

@testable import AppleSimulator

/// Requests fail when the HTTP/2 connection that they share breaks.
@Suite struct BrokenConnectionTests {
  private func calls(_ fixture: SimulatorFixture) async throws -> [String: Int] {
    var calls: [String: Int] = [:]
    for entry in try await fixture.control("adservices/tokens")["tokens"]?.arrayValue ?? [] {
      calls[entry["token"]?.stringValue ?? ""] = entry["calls"]?.arrayValue?.count
    }
    return calls
  }

  @Test("a request on a reused connection is sent again once, a request on a new connection never")
  func anew() async throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    for (token, responses): (String, JSONValue) in [
      ("first", [["status": 200]]), ("breaks", [["reset": true], ["status": 200]]),
      ("waits", [["status": 200, "delayMilliseconds": 30_000], ["status": 200]]),
      ("breaksTwice", [["reset": true], ["reset": true], ["status": 200]]), ("once", [["reset": true], ["status": 200]]),
    ] {
      _ = try await fixture.control("adservices/tokens", ["token": .string(token), "answers": responses])
    }
    try await fixture.serving { url in
      var configuration = HTTPClientConfiguration()
      configuration.caFile = fixture.path + "/tls-ca.pem"
      configuration.maxConnectionsPerHost = 1
      let client = HTTPClient(configuration: configuration)
      @Sendable func ask(_ token: String, isRepeatable: Bool = true) async -> Int? {
        let response = try? await client.send(
          HTTPClientRequest(
            method: "POST", url: url + "/api/v1/", headers: [("Content-Type", "text/plain")], body: Array(token.utf8),
            timeout: .seconds(60), isRepeatable: isRepeatable))
        #expect(response == nil || response?.httpVersion == "2")
        return response?.status
      }
      #expect(await ask("first") == 200)
      // A request that waits for its answer on the same connection fails too.
      async let waiting = ask("waits")
      while try await calls(fixture)["waits"] != 1 { try await Task.sleep(for: .milliseconds(5)) }
      #expect(await ask("breaks") == 200)
      #expect(await waiting == 200)
      #expect(await ask("breaksTwice") == nil)
      #expect(await ask("first") == 200)
      #expect(await ask("once", isRepeatable: false) == nil)
    }
    #expect(try await calls(fixture) == ["first": 2, "breaks": 2, "waits": 2, "breaksTwice": 2, "once": 1])
  }
}
