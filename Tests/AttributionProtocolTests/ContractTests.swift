import Foundation
import Testing
import WireJSON

@testable import AttributionProtocol

@Suite("The contract")
struct ContractTests {
  static let methods: [any RPCMethod.Type] =
    SignerService.methods + VerifierService.methods + EventsService.methods + QueuesService.methods + IngestService.methods
    + NotificationRecoveryService.methods + RetentionService.methods + AdvancedCommerceService.methods + ExternalPurchaseService.methods
    + TokenBrokerService.methods + DiagnosticsService.methods + RetentionDecisionService.methods

  static let document: JSONValue = {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Shared/AttributionProtocol/Contract/openapi.json")
    return (try? JSONValue(parsing: Array((try? Data(contentsOf: file)) ?? Data()), limits: JSONLimits(depth: 64, values: 1_000_000)))
      ?? .null
  }()

  private static func milliseconds(_ duration: Duration) -> Int64 { Int64(duration / .milliseconds(1)) }

  @Test("every method of the code is in openapi.json with its class and time limits, and every RPC path of it is in the code")
  func openAPI() throws {
    let paths = try #require(Self.document["paths"]?.objectValue)
    for method in Self.methods {
      let post = try #require(paths[method.path]?["post"], "\(method.path)")
      let (name, get): (String, Bool) =
        switch method.idempotency {
        case .read(let allowed): ("read", allowed)
        case .natural: ("natural", false)
        case .keyed: ("keyed", false)
        }
      #expect(post["x-idempotency"]?.stringValue == name, "\(method.path)")
      #expect((paths[method.path]?["get"] != nil) == get, "\(method.path)")
      let usual = Self.milliseconds(method.timeLimit.`default`)
      let maxTimeout = Self.milliseconds(method.timeLimit.maximum)
      #expect(post["x-default-timeout-ms"]?.int64Value == usual, "\(method.path)")
      #expect(post["x-max-timeout-ms"]?.int64Value == maxTimeout, "\(method.path)")
      #expect(post["x-batch"]?.boolValue == method.isBatch, "\(method.path)")
    }
    let listed = Set(paths.keys.filter { $0.hasPrefix("/attribution.") })
    let built = Set(Self.methods.map { $0.path })
    #expect(listed == built)
  }

  @Test("the contract has every method that other systems rely on")
  func complete() {
    let names = Set(Self.methods.map { $0.name })
    let promised = """
      SignSKAdNetworkImpression SignSKAdNetworkWebImpression SignAdAttributionKitImpression SignImpressions CreateAppStoreServerToken
      SignPromotionalOffer SignPromotionalOfferJWS SignIntroductoryOfferEligibility SignAdvancedCommerceRequest ListSigningKeys
      VerifySKAdNetworkPostback VerifyAdAttributionKitPostback VerifyAppStoreSignedData GetSubscriptionState VerifySKAdNetworkImpression
      VerifyAdAttributionKitImpression VerifyBatch ExtractTransactionIds CreateSubscription PullEvents AcknowledgeEvents GetEvent
      ListSubscriptions DeleteSubscription ListQueues ListDeadLetters ReplayDeadLetters PurgeDeadLetters PauseQueue ResumeQueue GetStoreForm SetStoreForm GetDelivery
      StartRecovery GetRecovery ListRecoveries CancelRecovery ListGaps RequestTestNotification GetTestNotificationStatus
      GetSubscriptionStatuses GetTransactionHistory GetTransactionInfo LookUpOrder GetRefundHistory GetAppTransactionInfo
      ExtendSubscriptionRenewalDate ExtendRenewalDatesForAllSubscribers SendConsumptionInformation SetAppAccountToken MigrateReceipts
      GetDeliveryCounts GetValueCounts GetQueueHistory GetRenewalDateExtensionStatus GetMigration ListMigrations ListMigrationFailures CancelMigration
      ExchangeToken GetExchange DecideRetention GetOneTimePurchaseState ReverifyDeliveries
      """
    let missing = Set(promised.split { $0.isWhitespace }.map(String.init)).subtracting(names)
    #expect(missing.isEmpty)
  }

  @Test("an unknown, repeated or ill-typed field is named with its path, and null is absent")
  func strictness() throws {
    func read(_ text: String) throws -> SignImpressionsRequest { try SignImpressionsRequest(json: Array(text.utf8)) }
    let expected: [(String, String)] = [
      (#"{"itmes":[]}"#, "itmes"), (#"{"items":[{"skadnetwork":{"fidelityTyp":1}}]}"#, "items[0].skadnetwork.fidelityTyp"),
      (#"{"items":[{},{"skadnetwork":{"fidelityType":1.5}}]}"#, "items[1].skadnetwork.fidelityType"),
      (#"{"items":[{"skadnetwork":{"itunesItemId":"9223372036854775808"}}]}"#, "items[0].skadnetwork.itunesItemId"),
      (#"{"items":[{"skadnetwork":{"adNetworkId":"a","ad_network_id":"a"}}]}"#, "items[0].skadnetwork.ad_network_id"),
      (#"{"items":[{"skadnetwork":{},"adAttributionKit":{}}]}"#, "items[0].adAttributionKit"), (#"{"items":5}"#, "items"),
    ]
    for (text, path) in expected {
      do {
        _ = try read(text)
        Issue.record("\(text) was read")
      } catch let error as JSONError {
        #expect(error.path == path, "\(text)")
      }
    }
    // If a missing list means all, an empty list is refused.
    typealias Extension = ExtendRenewalDatesForAllSubscribersRequest
    #expect(throws: JSONError(.outOfRange("must not be empty if it is given"), path: "storefrontCountryCodes")) {
      try Extension(json: Array(#"{"storefrontCountryCodes":[]}"#.utf8))
    }
    #expect(try Extension(json: Array(#"{"storefrontCountryCodes":null}"#.utf8)) == Extension())
    let both = try read(#"{"items":[{"skadnetwork":{"ad_network_id":"a","itunesItemId":"525463029","nonce":null,"sourceAppId":0}}]}"#)
    #expect(both.items[0].skadnetwork?.adNetworkId == "a" && both.items[0].skadnetwork?.itunesItemId == 525_463_029)
    #expect(both.items[0].skadnetwork?.nonce == nil && both.items[0].skadnetwork?.sourceAppId == 0)
    #expect(try SignImpressionsRequest(json: both.json) == both)
  }

  @Test("an error's details are the binary messages of protobuf, and a client can decode them")
  func errors() throws {
    let error = RPCError(
      .resourceExhausted, "rate limit reached", reason: "RATE_LIMITED", metadata: ["caller": "a"], retryDelay: .milliseconds(1500),
      fieldViolations: [.init(field: "items[0].version", description: "is wrong")])
    let text = String(decoding: error.json, as: UTF8.self)
    // Created with protobuf's own library.
    #expect(text.contains("\"value\":\"CggIARCAyrXuAQ\""), "\(text)")
    #expect(text.contains("\"value\":\"CgxSQVRFX0xJTUlURUQSC2F0dHJpYnV0aW9uGgsKBmNhbGxlchIBYQ\""), "\(text)")
    #expect(RPCError(body: error.json, httpStatus: 429) == error)
    #expect(error.retryAfterSeconds == 2)
    #expect(RPCError(body: [], httpStatus: 404).code == .unimplemented)
    #expect(RPCError(body: Array("<html>".utf8), httpStatus: 502).code == .unavailable)
    #expect(RPCCode.allCases.count == 16)
  }

  @Test("times are parsed with offsets and fractions and written in UTC, and other text is refused")
  func times() throws {
    #expect(Timestamp(text: "2026-11-21T08:00:00Z")?.millisecondsSince1970 == 1_795_248_000_000)
    #expect(Timestamp(text: "2026-11-21T09:30:00.250+01:30")?.text == "2026-11-21T08:00:00.250Z")
    #expect(Timestamp(text: "1969-12-31T23:59:59.999999999Z") == Timestamp(seconds: -1, nanos: 999_999_999))
    #expect(
      Timestamp(seconds: 0, nanos: 1_000).text == "1970-01-01T00:00:00.000001Z"
        && Timestamp(seconds: 0, nanos: 1).text.hasSuffix(".000000001Z"))
    #expect(Timestamp(seconds: -62_135_596_800).text == "0001-01-01T00:00:00Z")
    #expect(
      Timestamp(seconds: 253_402_300_800).text == "10000-01-01T00:00:00Z"
        && Timestamp(seconds: -62_167_219_201).text == "-1-12-31T23:59:59Z")
    #expect(Timestamp(text: "2024-02-29T00:00:00Z") != nil && Timestamp(text: "2023-02-29T00:00:00Z") == nil)
    for text in ["", "2026-11-21", "2026-11-21T08:00:00", "2026-13-01T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T08:00:00.Z", "x"] {
      #expect(Timestamp(text: text) == nil, "\(text)")
    }
    for _ in 0..<2000 {
      let time = Timestamp(millisecondsSince1970: .random(in: -62_135_596_800_000...253_402_300_799_999))
      #expect(Timestamp(text: time.text) == time)
    }
  }
}
