import AppleAttribution
import Cryptography
import TestSupport
import Testing
import WireJSON

@Suite("AdAttributionKit impressions")
struct AdAttributionKitImpressionTests {
  static let now: Int64 = 1_790_000_000_000
  static let network = "example.adattributionkit"
  static let parameters = AdAttributionKitImpression.Parameters(
    adNetworkId: network, sourceIdentifier: 5239, advertisedItemId: 1_108_187_390, publisherItemId: 5_838_492)

  @Test("a random impression signs and verifies; a damaged one never does")
  func property() throws {
    var random = SeededRandom("AdAttributionKit impressions")
    let key = try SigningKey.generate()
    let verifier = ImpressionVerifier(keys: [Self.network: [.init(id: "k1", key: key.publicKey)]])
    for _ in 0..<200 {
      var parameters = Self.parameters
      parameters.sourceIdentifier = .random(in: 0...9999, using: &random)
      parameters.advertisedItemId = .random(in: 1...Int64.max, using: &random)
      parameters.publisherItemId = .random(in: 0...Int64.max, using: &random)
      parameters.eligibleForReEngagement = [nil, true, false].randomElement(using: &random)!
      parameters.timestamp = Self.now + .random(in: -86_400_000...86_400_000, using: &random)
      let impression = try AdAttributionKitImpression(validating: parameters, now: Self.now)
      let jws = try impression.sign(with: key)
      let verdict = verifier.verdict(onAdAttributionKit: jws)
      #expect(verdict.valid && verdict.keyId == "k1")
      // 64-bit numbers keep all digits, and re-engagement is present only if it is true.
      #expect(verdict.payload?["advertised-item-identifier"]?.int64Value == parameters.advertisedItemId)
      #expect(verdict.payload?["eligible-for-re-engagement"] == (parameters.eligibleForReEngagement == true ? true : nil))
      var bytes = Array(jws.utf8)
      bytes[Int.random(in: 0..<bytes.count, using: &random)] ^= UInt8(1 << Int.random(in: 0...6, using: &random))
      #expect(!verifier.verdict(onAdAttributionKit: String(decoding: bytes, as: UTF8.self)).valid)
    }
  }

  @Test("an invalid value is refused with the field's name")
  func refused() {
    func field(_ change: (inout AdAttributionKitImpression.Parameters) -> Void) -> String? {
      var parameters = Self.parameters
      change(&parameters)
      do throws(FieldError) {
        _ = try AdAttributionKitImpression(validating: parameters, now: Self.now)
        return nil
      } catch { return error.field }
    }
    #expect(field { _ in } == nil)
    #expect(field { $0.adNetworkId = "Example.adattributionkit" } == "adNetworkId")
    #expect(field { $0.sourceIdentifier = 10_000 } == "sourceIdentifier")
    #expect(field { $0.sourceIdentifier = nil } == "sourceIdentifier")
    #expect(field { $0.advertisedItemId = 0 } == "advertisedItemId")
    #expect(field { $0.publisherItemId = nil } == "publisherItemId")
    #expect(field { $0.publisherItemId = 0 } == nil)
    #expect(field { $0.impressionType = "web-impression" } == "impressionType")
    #expect(field { $0.impressionId = "x" } == "impressionId")
    #expect(field { $0.timestamp = Self.now / 1000 } == "timestamp")
  }

  @Test("a timestamp more than a day from now is accepted only if any time is allowed")
  func anyTime() throws {
    var parameters = Self.parameters
    for timestamp in [Self.now + 86_400_001, Self.now - 86_400_001, 1] {
      parameters.timestamp = timestamp
      let error = #expect(throws: FieldError.self) { try AdAttributionKitImpression(validating: parameters, now: Self.now) }
      #expect(error?.field == "timestamp")
      #expect(try AdAttributionKitImpression(validating: parameters, now: Self.now, allowsAnyTime: true).timestamp == timestamp)
    }
    parameters.timestamp = 0
    #expect(throws: FieldError.self) { try AdAttributionKitImpression(validating: parameters, now: Self.now, allowsAnyTime: true) }
  }

  @Test("a JWS that violates the rules is rejected even if it is signed by our key")
  func verdicts() throws {
    let key = try SigningKey.generate()
    let verifier = ImpressionVerifier(keys: [Self.network: [.init(id: "k1", key: key.publicKey)]])
    let impression = try AdAttributionKitImpression(validating: Self.parameters, now: Self.now)
    func verdict(header: String? = nil, _ change: (inout JSONObject) -> Void) throws -> ImpressionVerifier.Verdict {
      var payload = try #require(try JSONValue(parsing: impression.payload).objectValue)
      change(&payload)
      let header = header.map { Array($0.utf8) } ?? impression.header
      return verifier.verdict(
        onAdAttributionKit: try CompactJWS.sign(header: header, payload: JSONValue.object(payload).serialized, with: key))
    }
    #expect(try verdict { _ in }.valid)
    #expect(try verdict { $0["timestamp"] = "1790000000000" }.field == "timestamp")
    #expect(try verdict { $0["source-identifier"] = "5239" }.field == "source-identifier")
    #expect(try verdict { $0["ad-network-identifier"] = "other.adattributionkit" }.field == "ad-network-identifier")
    #expect(try verdict { $0["impression-identifier"] = nil }.field == "impression-identifier")
    #expect(try verdict { $0["eligible-for-re-engagement"] = 1 }.field == "eligible-for-re-engagement")
    #expect(try verdict(header: #"{"alg":"none","kid":"example.adattributionkit"}"#) { _ in }.reason == .unexpectedAlgorithm)
    #expect(try verdict(header: #"{"alg":"ES256","kid":"other"}"#) { _ in }.reason == .unknownKey)
    #expect(try verdict(header: #"{"alg":"ES256"}"#) { _ in }.reason == .unknownKey)
    #expect(try verdict(header: #"{"alg":"ES256","kid":"example.adattributionkit","crit":["x"]}"#) { _ in }.reason == .malformedJWS)
    // Apple defines `alg` and `kid` only. A postback may have more members.
    for member in [#""typ":"JWT""#, #""Alg":"ES256""#, #""jku":null"#] {
      let other = try verdict(header: #"{"alg":"ES256","kid":"example.adattributionkit",\#(member)}"#) { _ in }
      #expect(other.reason == .malformedJWS && other.field == nil && other.keyId == nil, "\(member)")
    }
    #expect(try verdict(header: #"{"kid":"example.adattributionkit","alg":"ES256"}"#) { _ in }.valid)
    #expect(verifier.verdict(onAdAttributionKit: "a.b").reason == .malformedJWS)
    #expect(verifier.verdict(onAdAttributionKit: "").reason == .malformedJWS)
  }
}
