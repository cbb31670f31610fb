import AppleAttribution
import AttributionProtocol
import AttributionQueue
import RedisClient
import RedisTestSupport
import Testing
import WireJSON

@testable import asa_token_broker

@Suite("Rounds of an exchange, and additions to it")
struct ExchangeRoundTests {
  private static let id = "007-" + String(repeating: "0", count: 32)

  private func claims(installId: String? = nil, attStatus: ATTStatus? = nil) -> TokenClaims {
    TokenClaims(bundleId: "com.example.app", installId: installId, attStatus: attStatus, createdAt: 1000)
  }

  private func exchange(_ outcome: AdServicesOutcome?) throws -> Exchange {
    let submission = try TokenSubmission(
      token: "dG9rZW4=", bundleId: "com.example.app", installId: nil, attStatus: nil, requestedAt: nil, receivedAt: 1000)
    var exchange = Exchange(id: Self.id, submission: submission)
    exchange.outcome = outcome
    exchange.finishedAt = outcome == nil ? nil : 2000
    return exchange
  }

  private func event(of exchange: Exchange) throws -> JSONObject {
    let event = try #require(exchange.event(names: CampaignNames(), filter: .standard, traceparent: nil))
    return try #require(try JSONValue(parsing: event.json).objectValue)
  }

  @Test("each round has an event of its own, which supersedes the last one")
  func rounds() throws {
    var exchange = try exchange(.notFound)
    exchange.attempts = [.init(at: 1500, result: "404")]
    exchange.history = .init(notFound: 4, slow: 1)
    exchange.willPublish(exchange.eventId)
    let first = try event(of: exchange)
    #expect(first["id"] == .string("adservices-" + exchange.tokenKey) && first["data"]?["supersedes"] == nil)
    exchange = try #require(Exchange(json: exchange.json))
    #expect(exchange.mayBeAskedAgain)
    exchange.beginRound()
    #expect(exchange.state == .pending && exchange.attempts.isEmpty && exchange.history == .init())
    exchange = try #require(Exchange(json: exchange.json))
    (exchange.outcome, exchange.finishedAt) = (.organic, 3000)
    exchange.willPublish(exchange.eventId)
    let second = try event(of: exchange)
    #expect(second["id"] == .string("adservices-\(exchange.tokenKey)-2") && second["data"]?["supersedes"] == first["id"])
    #expect(!exchange.mayBeAskedAgain)
    #expect(Exchange(json: exchange.json) == exchange)
  }

  @Test("what is added to a decided exchange is stored and shown, and a withdrawal stays")
  func additions() throws {
    var exchange = try exchange(.attributed)
    exchange.record = try AppleAttribution.AttributionRecord([
      "attribution": true, "orgId": 1, "keywordId": "", "clickDate": "2026-10-08T17:17Z",
    ])
    #expect(exchange.attStatus == .unavailable && exchange.shownRecord(.standard)?.payload["clickDate"] == nil)
    var isNew = exchange.join(claims(installId: "i", attStatus: .authorized))
    #expect(isNew && exchange.needsCurrentStatus)
    exchange = try #require(Exchange(json: exchange.json))
    #expect(exchange.attStatus == .authorized && exchange.claims.installId == "i")
    #expect(exchange.shownRecord(.standard)?.payload["clickDate"] != nil)
    isNew = exchange.join(claims(installId: "j", attStatus: .denied))
    #expect(isNew)
    exchange = try #require(Exchange(json: exchange.json))
    let data = try #require(try event(of: exchange)["data"])
    #expect(data["conflicting"] == ["attStatus", "installId"] && data["unusable"] == ["keywordId"] && data["installId"] == "i")
    #expect(data["attStatus"] == 2 && data["record"]?["clickDate"] == nil && data["rawRecord"]?["keywordId"] == "")
    let answer = GetExchangeResponse(id: exchange.id, exchange, .standard)
    #expect(answer.conflicting == ["attStatus", "installId"] && answer.record?.unusable == ["keywordId"])
    // A consent that the install withdrew is not given back by a later submission.
    var withdrawn = try self.exchange(.attributed)
    withdrawn.record = exchange.record
    withdrawn.join(claims(installId: "i", attStatus: .authorized))
    withdrawn.apply(ATTInstall(record: ATTStatusRecord(status: .denied, deviceTime: nil, receivedAt: 1500)))
    withdrawn = try #require(Exchange(json: withdrawn.json))
    isNew = withdrawn.join(claims(installId: "i", attStatus: .authorized))
    #expect(!isNew && withdrawn.attStatus == .denied && withdrawn.attStatusAtReceipt == .authorized)
  }

  @Test("a hundred later submissions are stored, and the strictest status of all")
  func storedAtMost() async throws {
    try await withRedis { redis, _ in
      let store = ExchangeStore(redis: redis, lifetime: .seconds(60))
      let id = try #require(DeliveryID(Self.id))
      for number in 0..<110 {
        try await store.add(claims(installId: "i\(number)", attStatus: .authorized), to: id, receivedAt: 100 + Int64(number))
      }
      #expect(try await store.additions(to: id).count == 100)
      try await store.add(claims(installId: "last", attStatus: .denied), to: id, receivedAt: 900)
      let additions = try await store.additions(to: id)
      #expect(additions.count == 100 && additions.first?.attStatus == .denied)
      var exchange = try self.exchange(.attributed)
      exchange.join(claims(installId: "own", attStatus: .authorized))
      for claims in additions { exchange.join(claims) }
      #expect(exchange.attStatus == .denied && exchange.claims.installId == "own")
    }
  }

  @Test("later submissions are stored once each, the refusals first, and the others in the order of their receipt")
  func stored() async throws {
    try await withRedis { redis, _ in
      let store = ExchangeStore(redis: redis, lifetime: .seconds(60))
      let id = try #require(DeliveryID(Self.id))
      #expect(try await store.additions(to: id).isEmpty)
      let (one, other) = (claims(installId: "z", attStatus: .denied), claims(installId: "a"))
      try await store.add(one, to: id, receivedAt: 100)
      try await store.add(other, to: id, receivedAt: 200)
      try await store.add(one, to: id, receivedAt: 300)
      let alone = TokenClaims(bundleId: one.bundleId, installId: nil, attStatus: .denied, createdAt: .max)
      #expect(try await store.additions(to: id) == [alone, one, other])
    }
  }
}
