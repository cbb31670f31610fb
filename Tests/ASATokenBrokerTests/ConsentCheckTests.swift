import AppleAttribution
import AttributionProtocol
import AttributionQueue
import RedisClient
import RedisTestSupport
import Testing
import WireJSON

@testable import asa_token_broker

@Suite("Consent withdrawn while a token waits")
struct ConsentCheckTests {
  private static let hash = SessionSubmission.installHash(bundleId: "com.example.app", installId: "i")
  private static let record: JSONObject = [
    "attribution": true, "orgId": 1, "campaignId": 2, "adGroupId": 3, "clickDate": "2026-10-08T17:17Z",
  ]

  private func exchange(_ status: ATTStatus, installId: String? = "i", record: JSONObject? = Self.record) throws -> Exchange {
    let submission = try TokenSubmission(
      token: "dG9rZW4=", bundleId: "com.example.app", installId: installId, attStatus: status, requestedAt: nil, receivedAt: 1000)
    var exchange = Exchange(id: "007-" + String(repeating: "0", count: 32), submission: submission)
    if let record {
      exchange.record = try AppleAttribution.AttributionRecord(record)
      exchange.outcome = .attributed
      exchange.finishedAt = 2000
    }
    return exchange
  }

  /// The stored state after these statuses.
  private func install(_ statuses: [ATTStatus]) -> String {
    var install = ATTInstall()
    for (index, status) in statuses.enumerated() { _ = install.learn(status, deviceTime: nil, now: Int64(1000 + index)) }
    return install.text
  }

  @Test("times of the record are shown only if consent came with the token and the install's newest status is consent")
  func decided() async throws {
    try await withRedis { redis, _ in
      let check = ConsentCheck(statuses: InstallStatusReader(redis: redis))
      let cases: [(atReceipt: ATTStatus, stored: String?, shown: Bool)] = [
        (.authorized, nil, true), (.authorized, install([.authorized]), true), (.authorized, install([.authorized, .denied]), false),
        (.authorized, install([.restricted]), false), (.authorized, install([.notDetermined]), false),
        (.authorized, install([.denied, .authorized]), true), (.denied, install([.authorized]), false),
        (.unavailable, install([.authorized]), false), (.authorized, "damaged", false), (.authorized, "", false),
      ]
      for (atReceipt, stored, shown) in cases {
        let key = RedisArgument.string(InstallStatusReader.key(ofInstall: Self.hash))
        _ = try await redis.send(["DEL", key])
        if let stored { _ = try await redis.send(["SET", key, .string(stored)]) }
        let checked = try await check.checked(try exchange(atReceipt))
        #expect((checked.shownRecord(.standard)?.payload["clickDate"] != nil) == shown, "\(atReceipt) \(stored ?? "-")")
        #expect((checked.shownRawRecord(.standard)?["clickDate"] != nil) == shown)
        #expect(checked.attStatusAtReceipt == atReceipt)
      }
    }
  }

  @Test("the stored form keeps both statuses, and an older build reads the stricter one")
  func stored() throws {
    var withdrawn = try exchange(.authorized)
    withdrawn.apply(ATTInstall(record: ATTStatusRecord(status: .denied, deviceTime: nil, receivedAt: 1500)))
    #expect(withdrawn.json["attStatus"] == 2 && withdrawn.json["attStatusAtReceipt"] == 3)
    let read = try #require(Exchange(json: withdrawn.json))
    #expect(read.attStatus == .denied && read.attStatusAtReceipt == .authorized)
    #expect(read.shownRecord(.standard)?.removedNames == ["clickDate"])
    let kept = try exchange(.authorized)
    #expect(kept.json["attStatusAtReceipt"] == nil)
    #expect(try #require(Exchange(json: kept.json)).attStatusAtReceipt == .authorized)
  }

  @Test("fields that need consent in this deployment are removed from records too, in events and in answers")
  func additionalFields() throws {
    let filter = ConsentFilter(additionalNames: ["country_or_region"])
    let record: JSONObject = [
      "attribution": true, "orgId": 9_007_199_254_740_993, "conversionType": "newdownloads", "countryOrRegion": "DE", "new": 1,
    ]
    for (status, country) in [(ATTStatus.authorized, "DE"), (.denied, nil)] as [(ATTStatus, String?)] {
      let exchange = try exchange(status, record: record)
      let event = try #require(exchange.event(names: CampaignNames(), filter: filter, traceparent: nil))
      let text = String(decoding: event.json, as: UTF8.self)
      #expect(text.contains("countryOrRegion\":") == (country != nil) && text.contains("removedNames") == (country == nil))
      let answer = try #require(GetExchangeResponse(id: exchange.id, exchange, filter).record)
      #expect(answer.countryOrRegion == country && answer.raw?["countryOrRegion"]?.stringValue == country)
      #expect(answer.orgId == 9_007_199_254_740_993 && answer.conversionType == "Download" && answer.raw?["new"] == 1)
    }
  }

  @Test("an exchange that shows nothing that needs consent needs no query")
  func notNeeded() throws {
    #expect(try exchange(.authorized).needsCurrentStatus)
    #expect(try !exchange(.denied).needsCurrentStatus)
    #expect(try !exchange(.authorized, installId: nil).needsCurrentStatus)
    #expect(try !exchange(.authorized, record: nil).needsCurrentStatus)
  }

  @Test("nothing is shown while the status cannot be read")
  func unreachable() async throws {
    try await withRedis { redis, _ in
      _ = try await redis.send(["LPUSH", .string(InstallStatusReader.key(ofInstall: Self.hash)), "not a string"])
      let check = ConsentCheck(statuses: InstallStatusReader(redis: redis))
      let decided = try exchange(.authorized)
      await #expect(throws: (any Error).self) { try await check.checked(decided) }
    }
  }
}
