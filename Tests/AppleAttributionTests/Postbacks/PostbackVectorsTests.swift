import AppleAttribution
import Cryptography
import TestSupport
import Testing
import WireJSON

@Suite("Postback vectors")
struct PostbackVectorsTests {
  @Test("every postback gets exactly the verdict of its vector", arguments: PostbackVector.postbacks)
  func verdict(_ vector: PostbackVector) throws {
    let verifier = PostbackVerifier(keys: vector.keys)
    let seen: (valid: Bool, reason: String?, field: String?, version: String?, environment: String?)
    let (unsigned, typed): (UnsignedValues?, JSONObject?)
    switch vector.kind {
    case "skadnetwork-postback":
      let verdict = verifier.verdict(onSKAdNetwork: vector.body)
      seen = (verdict.valid, verdict.reason?.rawValue, verdict.field, verdict.version, verdict.environment?.rawValue)
      (unsigned, typed) = (verdict.postback?.unsigned, verdict.postback?.typed())
      #expect((verdict.naturalKey != nil) == verdict.valid)
    case "adattributionkit-postback":
      let verdict = verifier.verdict(onAdAttributionKit: vector.body)
      seen = (verdict.valid, verdict.reason?.rawValue, verdict.field, nil, verdict.environment?.rawValue)
      (unsigned, typed) = (verdict.postback?.unsigned, verdict.postback?.typed())
      #expect((verdict.naturalKey != nil) == verdict.valid)
    default:
      Issue.record("unknown kind \(vector.kind)")
      return
    }
    #expect(seen.valid == vector.expect["valid"]!.boolValue!)
    #expect(seen.reason == vector.expect["reason"]?.stringValue)
    if let field = vector.expect["field"]?.stringValue { #expect(seen.field == field) }
    if let version = vector.expect["version"]?.stringValue { #expect(seen.version == version) }
    if let environment = vector.expect["environment"]?.stringValue { #expect(seen.environment == environment) }
    if seen.valid {
      let body = try JSONValue(parsing: vector.body)
      let unusable = vector.expect["unusable"]?.arrayValue?.compactMap(\.stringValue) ?? []
      #expect(unsigned?.unusable == unusable)
      for name in unusable { #expect(unsigned?.received[name] == body[name] && typed?[name] == nil) }
      for member in vector.expect["typed"]?.objectValue?.members ?? [] {
        #expect(typed?[member.key] == member.value && unsigned?.received[member.key] == body[member.key])
      }
      #expect(unsigned?.received["campaign-id"] == nil && unsigned?.received["ip"] == nil)
    }
  }

  @Test(
    "postbacks verified together get the verdicts of each alone", arguments: ["postbacks.json", "unsigned-values.json", "genuine.json"])
  func together(_ file: String) throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededRandom(seed: seed)
    let keys = try #require(PostbackVector.load(file).first).keys
    let verifier = PostbackVerifier(keys: keys, acceptsDevelopmentSKAdNetwork: true)
    let bodies = PostbackVector.postbacks.map(\.body) + [[], Array("{".utf8), Array("[]".utf8), [0xFF]]
    for count in [0, 1, 2, 33] + (0..<20).map({ _ in Int.random(in: 0...60, using: &random) }) {
      let asked = (0..<count).map { _ in
        let adNetworks: Set<String>? = [nil, ["example123.skadnetwork"], []].randomElement(using: &random)!
        return (body: bodies.randomElement(using: &random)!, adNetworks: adNetworks)
      }
      let verdicts = verifier.verdicts(onSKAdNetwork: asked)
      #expect(verdicts.count == count)
      for (verdict, one) in zip(verdicts, asked) {
        let alone = verifier.verdict(onSKAdNetwork: one.body, expecting: one.adNetworks)
        #expect(
          (verdict.reason, verdict.field, verdict.explanation, verdict.version, verdict.environment)
            == (alone.reason, alone.field, alone.explanation, alone.version, alone.environment), "seed \(seed)")
        #expect(
          (verdict.keyId, verdict.transactionId, verdict.postback, verdict.naturalKey)
            == (alone.keyId, alone.transactionId, alone.postback, alone.naturalKey), "seed \(seed)")
      }
    }
  }

  @Test(
    "the sniffer finds kind and key of every genuine postback", arguments: PostbackVector.postbacks.filter { $0.expect["valid"] == true })
  func sniffer(_ vector: PostbackVector) throws {
    let verifier = PostbackVerifier(keys: vector.keys)
    let findings = try PostbackSniffer.inspect(vector.body)
    #expect(findings.kind.rawValue == vector.kind)
    if findings.kind == .skAdNetwork {
      let verdict = verifier.verdict(onSKAdNetwork: vector.body)
      #expect(findings.naturalKey == verdict.naturalKey)
      #expect(findings.adNetworkId == verdict.postback?.adNetworkId)
    } else {
      let verdict = verifier.verdict(onAdAttributionKit: vector.body)
      #expect(findings.naturalKey == verdict.naturalKey)
      #expect(findings.adNetworkId == verdict.postback?.adNetworkIdentifier)
    }
  }

  @Test(
    "the verdict is the same for a postback that was serialised again",
    arguments: PostbackVector.postbacks.filter { $0.expect["valid"] == true })
  func typed(_ vector: PostbackVector) throws {
    let verifier = PostbackVerifier(keys: vector.keys)
    if vector.kind == "skadnetwork-postback" {
      let postback = try #require(verifier.verdict(onSKAdNetwork: vector.body).postback)
      let again = verifier.verdict(onSKAdNetwork: postback.typed())
      #expect(again.valid)
      #expect(again.postback?.typed() == postback.typed() && again.postback?.unsigned.unusable == [])
      var writer = JSONWriter()
      postback.writeTyped(to: &writer, foreign: nil)
      #expect(writer.bytes == JSONValue.object(postback.typed()).serialized)
    } else {
      let postback = try #require(verifier.verdict(onAdAttributionKit: vector.body).postback)
      #expect(verifier.verdict(onAdAttributionKit: postback.typed()).valid)
      #expect(postback.typed()["payload"]?["did-win"]?.boolValue == postback.didWin)
    }
  }

  @Test(
    "published impressions get the verdict of their vector",
    arguments: PostbackVector.impressions.filter { $0.kind == "skadnetwork-impression" })
  func impression(_ vector: PostbackVector) throws {
    let sample = PostbackVector.file("impressions.json")["publicKeys"]!["apple-sample"]!
    let key = try PublicKey(subjectPublicKeyInfo: try #require(Base64.decode(sample["P-256"]!.stringValue!)))
    let verifier = ImpressionVerifier(keys: [sample["adNetworkId"]!.stringValue!: [.init(id: "sample", key: key)]])
    let given = vector.value["parameters"]!
    let parameters = SKAdNetworkImpression.Parameters(
      version: given["version"]?.stringValue, adNetworkId: given["adNetworkId"]?.stringValue,
      sourceIdentifier: given["sourceIdentifier"]?.int64Value, itunesItemId: given["itunesItemId"]?.int64Value,
      sourceAppId: given["sourceAppId"]?.int64Value, fidelityType: given["fidelityType"]?.int64Value,
      nonce: given["nonce"]?.stringValue, timestamp: given["timestamp"]?.int64Value)
    let impression = try SKAdNetworkImpression(validating: parameters, now: 0, allowsAnyTime: true, domains: .form)
    #expect(String(decoding: impression.signedString, as: UTF8.self) == vector.value["signed"]!.stringValue!)
    let verdict = verifier.verdict(onSKAdNetwork: parameters, signature: vector.value["signature"]!.stringValue!)
    #expect(verdict.valid == vector.expect["valid"]!.boolValue!)
    #expect(verdict.reason?.rawValue == vector.expect["reason"]?.stringValue)
  }

  @Test("our impression JWS has the header and claims of Apple's sample")
  func impressionForm() throws {
    let vector = try #require(PostbackVector.impressions.first { $0.kind == "adattributionkit-impression" })
    let expected = try #require(vector.expect["payload"])
    let impression = try AdAttributionKitImpression(
      validating: .init(
        adNetworkId: expected["ad-network-identifier"]?.stringValue, sourceIdentifier: expected["source-identifier"]?.int64Value,
        advertisedItemId: expected["advertised-item-identifier"]?.int64Value,
        publisherItemId: expected["publisher-item-identifier"]?.int64Value, impressionType: expected["impression-type"]?.stringValue,
        eligibleForReEngagement: expected["eligible-for-re-engagement"]?.boolValue,
        impressionId: expected["impression-identifier"]?.stringValue, timestamp: expected["timestamp"]?.int64Value),
      now: 0, allowsAnyTime: true)
    #expect(try JSONValue(parsing: impression.header) == vector.expect["header"])
    #expect(try JSONValue(parsing: impression.payload) == expected)
    let sample = try CompactJWS(vector.value["jws"]!.stringValue!)
    #expect(Int64(sample.signature.count) == vector.expect["signatureBytes"]?.int64Value)
    #expect(try JSONValue(parsing: sample.payload) == expected)
  }
}
