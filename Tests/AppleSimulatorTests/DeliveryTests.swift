import Testing
import WireJSON

@testable import AppleSimulator

/// Deliveries are posted to the simulator itself, which answers every POST to an unknown path with 200, or as a fault defines.
@Suite(.serialized) struct DeliveryTests {
  /// Waits until `condition` holds.
  private func eventually(seconds: Double = 10, _ condition: () -> Bool) async throws -> Bool {
    for _ in 0..<Int(seconds * 100) {
      if condition() { return true }
      try await Task.sleep(for: .milliseconds(10))
    }
    return condition()
  }

  @Test("in production a refused notification is sent six times, 1, 12, 24, 48 and 72 hours apart, with the same body")
  func productionRetries() async throws {
    // At this scale 157 hours take three seconds.
    let scale = 157.0 * 3600 / 3
    let fixture = try SimulatorFixture(timeScale: scale)
    defer { fixture.remove() }
    try await fixture.serving { url in
      _ = try await fixture.control("faults", ["route": "/hook", "percentage": 100, "status": 503])
      let made = try await fixture.control(
        "notifications",
        [
          "bundleId": "com.example.app", "notificationType": "DID_RENEW", "url": .string(url + "/hook"),
        ])
      let uuid = try #require(made["notificationUUID"]?.stringValue)
      #expect(try await eventually { fixture.parts.archive.record(uuid)?.attempts.count == 6 })
      try await Task.sleep(for: .milliseconds(100))
      let record = try #require(fixture.parts.archive.record(uuid))
      #expect(record.attempts.count == 6 && !record.wasDelivered)
      #expect(record.attempts.allSatisfy { $0.result == .unsuccessfulStatus && $0.status == 503 })
      for (index, hours) in [1.0, 12, 24, 48, 72].enumerated() {
        let waited = Double(record.attempts[index + 1].date - record.attempts[index].date)
        let expected = hours * 3_600_000 / scale
        #expect(waited >= expected - 2, "wait \(index): \(waited) ms for \(expected)")
      }
    }
  }

  @Test("in the sandbox there is one attempt; a success ends the retries in production")
  func ends() async throws {
    let fixture = try SimulatorFixture(timeScale: 1_000_000)
    defer { fixture.remove() }
    try await fixture.serving { url in
      _ = try await fixture.control("faults", ["route": "/hook", "count": 2, "status": 500])
      let sandbox = try await fixture.control(
        "notifications",
        [
          "bundleId": "com.example.app", "environment": "Sandbox", "notificationType": "DID_RENEW",
          "url": .string(url + "/hook"),
        ])
      #expect(sandbox["sendAttempts"]?.arrayValue?.first?["sendAttemptResult"] == "UNSUCCESSFUL_HTTP_RESPONSE_CODE")
      let production = try await fixture.control(
        "notifications",
        [
          "bundleId": "com.example.app", "notificationType": "DID_RENEW", "url": .string(url + "/hook"),
        ])
      let uuid = try #require(production["notificationUUID"]?.stringValue)
      #expect(try await eventually { fixture.parts.archive.record(uuid)?.wasDelivered == true })
      try await Task.sleep(for: .milliseconds(300))
      #expect(fixture.parts.archive.record(uuid)?.attempts.map(\.result) == [.unsuccessfulStatus, .success])
      #expect(fixture.parts.archive.record(sandbox["notificationUUID"]?.stringValue ?? "")?.attempts.count == 1)
      let answered = fixture.parts.sessions.list(host: nil, limit: 10).compactMap { $0["status"]?.int64Value }
      #expect(answered == [500, 500, 200])
    }
  }

  @Test("a failed attempt has Apple's value for its reason")
  func results() async throws {
    let fixture = try SimulatorFixture()
    defer { fixture.remove() }
    try await fixture.serving { url in
      func result(_ target: String) async throws -> JSONValue? {
        try await fixture.control(
          "notifications",
          [
            "bundleId": "com.example.app", "environment": "Sandbox", "notificationType": "REFUND",
            "url": .string(target),
          ])["sendAttempts"]?.arrayValue?.first?["sendAttemptResult"]
      }
      #expect(try await result("http://127.0.0.1:1/") == "SOCKET_ISSUE")
      #expect(try await result(url.replacing("127.0.0.1", with: "127.0.0.2") + "/hook") == "SOCKET_ISSUE")
      #expect(try await result(url + "/hook") == "SUCCESS")
      #expect(try await result(url.replacing("https", with: "http") + "/hook") != "SUCCESS")
      _ = try await fixture.control("faults", ["route": "/hook", "reset": true])
      #expect(["SOCKET_ISSUE", "NO_RESPONSE", "TLS_ISSUE"].contains(try await result(url + "/hook")))
      _ = try await fixture.control(
        "faults", ["route": "/hook", "status": 302, "headers": ["location": .string(url + "/hook")]])
      #expect(try await result(url + "/hook") == "CIRCULAR_REDIRECT")
    }
  }

  @Test("a device tries at most nine times, stops at 200, and copies winning postbacks to the developer")
  func device() async throws {
    let fixture = try SimulatorFixture(timeScale: 10_000_000)
    defer { fixture.remove() }
    try await fixture.serving { url in
      _ = try await fixture.control("faults", ["route": "/network", "percentage": 100, "status": 500])
      let refused = try await fixture.control("skadnetwork/postbacks", ["url": .string(url + "/network")])
      let id = try #require(refused["deliveries"]?.arrayValue?.first?["id"]?.int64Value)
      func attempts() -> Int { fixture.parts.deliveries.json(Int(id))["attempts"]?.arrayValue?.count ?? 0 }
      #expect(try await eventually { attempts() == 9 })
      try await Task.sleep(for: .milliseconds(200))
      #expect(attempts() == 9)

      let won = try await fixture.control(
        "skadnetwork/postbacks",
        [
          "url": .string(url + "/elsewhere"), "developerURL": .string(url + "/copy"), "resend": 1,
          "variants": [["conversion-value": 7]],
        ])
      #expect(won["deliveries"]?.arrayValue?.count == 6)
      #expect(won["deliveries"]?.arrayValue?.allSatisfy { $0["delivered"] == true } == true)
      let lost = try await fixture.control(
        "adattributionkit/postbacks",
        [
          "url": .string(url + "/elsewhere"), "developerURL": .string(url + "/copy"), "didWin": false,
        ])
      #expect(lost["deliveries"]?.arrayValue?.count == 1)
      let copies = fixture.parts.sessions.list(host: nil, limit: 100).filter { $0["path"] == "/copy" }
      let signatures = Set(copies.compactMap { $0["body"]?["attribution-signature"]?.stringValue })
      #expect(copies.count == 3 && signatures.count == 1)
    }
  }

  @Test("a reset drops waiting deliveries")
  func reset() async throws {
    let fixture = try SimulatorFixture(timeScale: 36_000)
    defer { fixture.remove() }
    try await fixture.serving { url in
      _ = try await fixture.control("faults", ["route": "/hook", "percentage": 100, "status": 500])
      _ = try await fixture.control(
        "notifications",
        [
          "bundleId": "com.example.app", "notificationType": "REFUND", "url": .string(url + "/hook"),
        ])
      _ = try await fixture.control("reset", [:])
      try await Task.sleep(for: .milliseconds(400))
      #expect(fixture.parts.sessions.count == 0 && fixture.parts.archive.count == 0)
    }
  }
}
