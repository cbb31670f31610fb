import AppleAttribution
import RedisClient
import RedisTestSupport
import Testing
import WireJSON

@testable import ingest

@Suite("Requests with a session that no host accepted")
struct SessionTriesTests {
  private let consent = SessionTries.Target(status: .authorized, host: "consent.adjust.com")
  private let analytics = SessionTries.Target(status: .denied, host: "analytics.adjust.com")

  @Test("they are counted by status and host, in Redis as in memory")
  func counted() async throws {
    try await withRedis { redis, _ in
      let store = SessionStore(redis: redis, durable: redis, payloadSeconds: 60)
      let failed = SessionForwarder.Failure(host: consent.host, result: "answered 503")
      let reset = SessionForwarder.Failure(host: "consent.adjust.io", result: "connection reset, by the peer")
      try await store.addTries([failed, reset], .authorized, of: "d", installHash: "h", at: 1000)
      try await store.addTries([failed], .authorized, of: "d", installHash: "h", at: 2000)
      try await store.addTries([.init(host: analytics.host, result: "answered 500")], .denied, of: "d", installHash: "h", at: 3000)
      var expected = SessionTries()
      expected.add(consent, result: "answered 503", at: 1000)
      expected.add(.init(status: .authorized, host: reset.host), result: reset.result, at: 1000)
      expected.add(consent, result: "answered 503", at: 2000)
      expected.add(analytics, result: "answered 500", at: 3000)
      #expect(try await store.tries(of: "d", installHash: "h") == expected)
      #expect(expected.count == 4)
      #expect(try await store.tries(of: "other", installHash: "h") == SessionTries())
      let seconds = try await redis.send(["TTL", .string(SessionKeys(installHash: "h").tries("d"))]).integer ?? -1
      #expect((1...60).contains(seconds))
    }
  }

  @Test("an event lists them from the earliest on")
  func listed() {
    var tries = SessionTries()
    tries.add(analytics, result: "answered 500", at: 2000)
    tries.add(consent, result: "answered 503", at: 1000)
    let listed = tries.json.arrayValue ?? []
    #expect(listed.map { $0["host"]?.stringValue } == ["consent.adjust.com", "analytics.adjust.com"])
    #expect(listed.map { $0["consent"]?.boolValue } == [true, false])
    #expect(listed.first?["firstAt"]?.stringValue == "1970-01-01T00:00:01Z" && listed.first?["count"] == 1)
  }

  @Test("damaged fields are left out")
  func damaged() {
    let stored = [
      ("3 a.example", "1,2,3,answered 503"), ("x a.example", "1,2,3,x"), ("3", "1,2,3,x"), ("3 b.example", "1,2"),
      ("3 c.example", "a,2,3,x"),
    ]
    let read = SessionTries(stored: stored.map { (field: $0.0, value: $0.1) })
    #expect(read.summaries.map { $0.key.host } == ["a.example"] && read.count == 1)
  }
}
