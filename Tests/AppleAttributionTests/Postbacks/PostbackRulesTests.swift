import AppleAttribution
import Cryptography
import TestSupport
import Testing
import WireJSON

@Suite("Postback rules")
struct PostbackRulesTests {
  static let key = try! SigningKey.generate()
  static let developmentKey = try! SigningKey.generate()
  static let keys = ApplePublicKeys(
    p192: ApplePublicKeys.published.p192.map(\.key.key), p256: [key.publicKey],
    kids: ["apple-cas-identifier/0": [key.publicKey], "apple-development-identifier/0": [developmentKey.publicKey]])
  static let verifier = PostbackVerifier(keys: keys)

  static let four: JSONObject = [
    "version": "4.0", "ad-network-id": "example123.skadnetwork", "source-identifier": "5239", "app-id": 525_463_029,
    "transaction-id": "6AAFB7A5-0170-41B5-BBE4-FE71DEDF1E30", "redownload": false, "source-app-id": 1_234_567_891,
    "fidelity-type": 1, "did-win": true, "postback-sequence-index": 0,
  ]

  /// Signs the content of a postback, as a device does.
  static func signed(_ object: JSONObject, with key: SigningKey = key) throws -> JSONObject {
    var object = object
    object["attribution-signature"] = .string(Base64.encode(try key.sign([0]).der))
    let postback = try SKAdNetworkPostback(object)
    object["attribution-signature"] = .string(Base64.encode(try key.sign(postback.signedString).der))
    return object
  }

  static func verdict(_ change: (inout JSONObject) -> Void) throws -> SKAdNetworkVerdict {
    var object = try signed(four)
    change(&object)
    return verifier.verdict(onSKAdNetwork: object)
  }

  static let malformedFields: [(String, JSONValue?, String)] = [
    ("ad-network-id", 5, "ad-network-id"), ("ad-network-id", "", "ad-network-id"), ("source-identifier", 7, "source-identifier"),
    ("source-identifier", 52_390, "source-identifier"), ("source-identifier", "5.2e1", "source-identifier"),
    ("source-identifier", .number(JSONNumber(52.5)!), "source-identifier"), ("source-identifier", -52, "source-identifier"),
    ("source-identifier", "5", "source-identifier"), ("source-identifier", "52390", "source-identifier"),
    ("source-identifier", "52a9", "source-identifier"), ("source-identifier", nil, "source-identifier"),
    ("source-identifier", "٥٢", "source-identifier"), ("app-id", true, "app-id"), ("app-id", "5.5", "app-id"),
    ("app-id", "+5", "app-id"), ("app-id", "-5", "app-id"), ("app-id", "", "app-id"), ("app-id", .number(JSONNumber(1.5)!), "app-id"),
    ("app-id", "9223372036854775808", "app-id"), ("redownload", "yes", "redownload"), ("redownload", 2, "redownload"),
    ("redownload", "TRUE ", "redownload"), ("redownload", nil, "redownload"), ("fidelity-type", 2, "fidelity-type"),
    ("fidelity-type", nil, "fidelity-type"), ("did-win", .null, "did-win"), ("postback-sequence-index", 3, "postback-sequence-index"),
    ("fidelity-type", .number(JSONNumber(0.5)!), "fidelity-type"), ("redownload", .number(JSONNumber(0.5)!), "redownload"),
    ("source-domain", "example.com", "source-domain"),
    ("version", 4, "version"), ("transaction-id", "a\u{2063}b", "transaction-id"), ("attribution-signature", 5, "attribution-signature"),
  ]

  @Test("a field with an invalid type or value is malformed, and is named", arguments: malformedFields.indices)
  func malformed(_ index: Int) throws {
    let (field, value, named) = Self.malformedFields[index]
    let verdict = try Self.verdict { $0[field] = value }
    #expect(verdict.reason == .malformed)
    #expect(verdict.field == named)
    #expect(verdict.naturalKey == nil)
  }

  @Test("values that a forwarder converted to other JSON types are equivalent, and additional fields are preserved")
  func lenient() throws {
    let verdict = try Self.verdict {
      $0["app-id"] = "525463029"
      $0["redownload"] = "False"
      $0["did-win"] = 1
      $0["fidelity-type"] = "1"
      $0["conversion-value"] = .null
      $0["partner"] = ["campaign": [1, 2]]
    }
    #expect(verdict.valid)
    let typed = try #require(verdict.postback?.typed())
    #expect(typed["app-id"] == 525_463_029)
    #expect(typed["redownload"] == false)
    #expect(typed["did-win"] == true)
    #expect(typed["conversion-value"] == nil)
    #expect(typed["partner"] == ["campaign": [1, 2]])
  }

  @Test("the natural key of a postback contains its window, and its transaction in lower case")
  func naturalKey() throws {
    #expect(
      try Self.verdict { _ in }.naturalKey == "skadnetwork:example123.skadnetwork:6aafb7a5-0170-41b5-bbe4-fe71dedf1e30:0")
    // The transaction is signed as it is written, so a change of case breaks the signature.
    #expect(try Self.verdict { $0["transaction-id"] = "6aafb7a5-0170-41b5-bbe4-fe71dedf1e30" }.reason == .badSignature)
  }

  @Test(
    "an integer that is spelled as a double is the same integer",
    arguments: ["525463029.0", "5.25463029E8", "5.25463029e+8", "5254630290E-1", "0.525463029e9", "525463029.000e0"])
  func doubles(text: String) throws {
    let object = try Self.signed(Self.four)
    let whole = String(decoding: JSONValue.object(object).serialized, as: UTF8.self)
    for (field, spelled) in [
      (#""app-id":525463029"#, #""app-id":\#(text)"#), (#""app-id":525463029"#, #""app-id":"\#(text)""#),
      (#""fidelity-type":1"#, #""fidelity-type":1.0"#), (#""postback-sequence-index":0"#, #""postback-sequence-index":-0.0"#),
      (#""redownload":false"#, #""redownload":0.0"#), (#""did-win":true"#, #""did-win":1E0"#),
      (#""source-identifier":"5239""#, #""source-identifier":5.239e3"#),
    ] {
      let verdict = Self.verifier.verdict(onSKAdNetwork: Array(whole.replacing(field, with: spelled).utf8))
      #expect(verdict.valid && verdict.postback?.typed() == object, "\(spelled)")
    }
    #expect(Self.verifier.verdict(onSKAdNetwork: Array(whole.replacing("525463029", with: "525463029.5").utf8)).field == "app-id")
    #expect(Self.verifier.verdict(onSKAdNetwork: Array(whole.replacing("525463029", with: "1e999999999").utf8)).field == "app-id")
  }

  @Test("a source identifier that lost leading zeros is rejected")
  func lostZeros() throws {
    var object = Self.four
    object["source-identifier"] = "0052"
    object = try Self.signed(object)
    #expect(Self.verifier.verdict(onSKAdNetwork: object).valid)
    object["source-identifier"] = 52
    #expect(Self.verifier.verdict(onSKAdNetwork: object).reason == .badSignature)
  }

  @Test("an ad network's name is signed and shown as it is written, and compared without regard to case")
  func nameInUpperCase() throws {
    var upper = Self.four
    upper["ad-network-id"] = "EXAMPLE123.skadnetwork"
    let object = try Self.signed(upper)
    let naturalKey = try Self.verdict { _ in }.naturalKey
    for expected in ["example123.skadnetwork", "EXAMPLE123.SKADNETWORK"] {
      let verdict = Self.verifier.verdict(onSKAdNetwork: object, expecting: [expected])
      #expect(verdict.valid && verdict.postback?.typed()["ad-network-id"] == "EXAMPLE123.skadnetwork")
      #expect(verdict.naturalKey == naturalKey)
    }
    // The Kelvin sign is not the letter K.
    #expect(Self.verifier.verdict(onSKAdNetwork: object, expecting: ["example123.s\u{212A}adnetwork"]).reason == .wrongAdNetwork)
    #expect(try Self.verdict { $0["ad-network-id"] = "EXAMPLE123.skadnetwork" }.reason == .badSignature)
    let found = try PostbackSniffer.inspect(JSONValue.object(object).serialized)
    #expect(found.naturalKey == naturalKey)
    let kit = try Self.adAttributionKitVerdict(expecting: ["test.adattributionkit"]) {
      $0["ad-network-identifier"] = "TEST.AdAttributionKit"
    }
    #expect(kit.valid && kit.postback?.adNetworkIdentifier == "TEST.AdAttributionKit")
    #expect(try kit.naturalKey == Self.adAttributionKitVerdict().naturalKey)
  }

  @Test("an app's Apple id is not accepted as a domain, although both are signed at the same position")
  func numberAsDomain() throws {
    // The postback is signed with the app's Apple id and then sent with the other field: the signature is valid.
    let verdict = try Self.verdict {
      $0["source-app-id"] = nil
      $0["source-domain"] = "1234567891"
    }
    #expect(verdict.reason == .malformed && verdict.field == "source-domain")
  }

  static let namesOfOthers: [(String, [String])] = [
    (
      "1.0",
      [
        "source-identifier", "source-domain", "postback-sequence-index", "coarse-conversion-value", "country-code", "did-win",
        "fidelity-type", "redownload", "source-app-id", "conversion-value",
      ]
    ),
    (
      "2.0",
      [
        "source-identifier", "source-domain", "postback-sequence-index", "coarse-conversion-value", "country-code", "did-win",
        "fidelity-type",
      ]
    ),
    (
      "2.1",
      [
        "source-identifier", "source-domain", "postback-sequence-index", "coarse-conversion-value", "country-code", "did-win",
        "fidelity-type",
      ]
    ),
    ("2.2", ["source-identifier", "source-domain", "postback-sequence-index", "coarse-conversion-value", "country-code", "did-win"]),
    ("3.0", ["source-identifier", "source-domain", "postback-sequence-index", "coarse-conversion-value", "country-code"]),
    ("4.0", ["campaign-id"]),
  ]

  @Test("a field that the version does not have is a foreign member, and no unsigned value", arguments: namesOfOthers)
  func fieldsOfOtherVersions(version: String, names: [String]) throws {
    // The fields of any version, except for the unsigned ones of this version.
    var object: JSONObject = [
      "version": .string(version), "ad-network-id": "example123.skadnetwork", "campaign-id": 7, "source-identifier": "5239",
      "app-id": 525_463_029, "transaction-id": "6AAFB7A5-0170-41B5-BBE4-FE71DEDF1E30", "redownload": false, "source-app-id": 5,
      "fidelity-type": 1, "did-win": true, "postback-sequence-index": 0, "partner": "not Apple's", "ip": "198.51.100.1",
      "attribution-signature": .string(Base64.encode(try Self.key.sign([0]).der)),
    ]
    if version != "4.0" {
      object["source-domain"] = "example.com"
      object["coarse-conversion-value"] = "high"
      object["country-code"] = "US"
    }
    if version == "1.0" { object["conversion-value"] = 9 }
    let postback = try SKAdNetworkPostback(object)
    #expect(postback.unsigned.received.isEmpty && postback.unsigned.unusable.isEmpty && postback.unsigned.usable.isEmpty)
    #expect(postback.typed() == object)
    let foreign = Set(names + ["partner", "ip"])
    #expect(postback.typed(foreign: []) == JSONObject(object.members.filter { !foreign.contains($0.key) }))
    #expect(postback.typed(foreign: ["partner"]) == JSONObject(object.members.filter { !foreign.contains($0.key) || $0.key == "partner" }))
    for foreign in [nil, [], ["partner", names[0]]] as [Set<String>?] {
      var writer = JSONWriter()
      postback.writeTyped(to: &writer, foreign: foreign)
      #expect(writer.bytes == JSONValue.object(postback.typed(foreign: foreign)).serialized)
    }
  }

  @Test("a postback of another ad network is rejected only if requested")
  func wrongAdNetwork() throws {
    let object = try Self.signed(Self.four)
    #expect(Self.verifier.verdict(onSKAdNetwork: object, expecting: ["example123.skadnetwork"]).valid)
    let other = Self.verifier.verdict(onSKAdNetwork: object, expecting: ["other.skadnetwork"])
    #expect(other.reason == .wrongAdNetwork && other.keyId == "apple-p256" && other.naturalKey == nil)
  }

  @Test("a development key is accepted for SKAdNetwork only if it is allowed, and the postback is marked")
  func development() throws {
    let object = try Self.signed(Self.four, with: Self.developmentKey)
    #expect(Self.verifier.verdict(onSKAdNetwork: object).reason == .badSignature)
    let allowing = PostbackVerifier(keys: Self.keys, acceptsDevelopmentSKAdNetwork: true)
    let verdict = allowing.verdict(onSKAdNetwork: object)
    #expect(verdict.valid && verdict.environment == .development && verdict.keyId == "apple-development-identifier/0")
    #expect(allowing.verdict(onSKAdNetwork: try Self.signed(Self.four)).environment == .production)
    let bodies = try [Self.key, Self.developmentKey, try .generate()].map { key in
      (body: JSONValue.object(try Self.signed(Self.four, with: key)).serialized, adNetworks: nil as Set<String>?)
    }
    #expect(allowing.verdicts(onSKAdNetwork: bodies).map(\.environment) == [.production, .development, nil])
    #expect(Self.verifier.verdicts(onSKAdNetwork: bodies).map(\.valid) == [true, false, false])
  }

  @Test("every key that Apple signs with is tried for postbacks that are verified together")
  func severalKeys() throws {
    let second = try SigningKey.generate()
    let verifier = PostbackVerifier(keys: ApplePublicKeys(p192: [], p256: [Self.key.publicKey, second.publicKey], kids: [:]))
    let bodies = try [second, Self.key, second, Self.developmentKey].map { key in
      (body: JSONValue.object(try Self.signed(Self.four, with: key)).serialized, adNetworks: nil as Set<String>?)
    }
    #expect(verifier.verdicts(onSKAdNetwork: bodies).map(\.valid) == [true, true, true, false])
    let none = PostbackVerifier(keys: ApplePublicKeys(p192: [PublicKey](), p256: [], kids: [:]))
    #expect(none.verdicts(onSKAdNetwork: bodies).map(\.reason) == [.badSignature, .badSignature, .badSignature, .badSignature])
  }

  @Test("random damage never crashes, and never makes another postback valid")
  func damage() throws {
    var random = SeededRandom("postback damage")
    let whole = JSONValue.object(try Self.signed(Self.four)).serialized
    let genuine = Self.verifier.verdict(onSKAdNetwork: whole)
    #expect(genuine.valid)
    for _ in 0..<4000 {
      var bytes = whole
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let index = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0...2, using: &random) {
        case 0: bytes[index] ^= UInt8.random(in: 1...255, using: &random)
        case 1: bytes.remove(at: index)
        default: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
        }
      }
      let verdict = Self.verifier.verdict(onSKAdNetwork: bytes)
      if verdict.valid { #expect(verdict.postback?.signedString == genuine.postback?.signedString) }
      _ = try? PostbackSniffer.inspect(bytes)
    }
  }

  // MARK: AdAttributionKit

  static let claims: JSONObject = [
    "postback-identifier": "85546EB7-FD39-44BC-8990-C98A4AC36A49", "ad-network-identifier": "test.adattributionkit",
    "advertised-item-identifier": 10_738_027_756, "impression-type": "app-impression", "source-identifier": "07",
    "conversion-type": "reengagement", "did-win": true, "postback-sequence-index": 1,
  ]

  static func adAttributionKitVerdict(
    kid: String = "apple-cas-identifier/0", body: JSONObject = [:], with key: SigningKey = key, expecting networks: Set<String>? = nil,
    _ change: (inout JSONObject) -> Void = { _ in }
  ) throws -> AdAttributionKitVerdict {
    var claims = claims
    change(&claims)
    let header: JSONObject = ["alg": "ES256", "kid": .string(kid)]
    var body = body
    body["jws-string"] = .string(
      try CompactJWS.sign(header: JSONValue.object(header).serialized, payload: JSONValue.object(claims).serialized, with: key))
    return verifier.verdict(onAdAttributionKit: body, expecting: networks)
  }

  @Test(
    "a JWS that is not three parts in Base64URL is malformed, whatever its header says",
    arguments: ["", "a", "a.b", "HEADER.", "HEADER..SIGNATURE", ".PAYLOAD.SIGNATURE", "HEADER.PAYLOAD.SIGNATURE.", "HEADER.PAY=.SIGNATURE"])
  func malformedJWS(text: String) throws {
    let header = Base64.encodeURL(Array(#"{"alg":"none"}"#.utf8))
    let jws = text.replacing("HEADER", with: header).replacing("PAYLOAD", with: "e30").replacing("SIGNATURE", with: "c2ln")
    let verdict = Self.verifier.verdict(onAdAttributionKit: ["jws-string": .string(jws)], expecting: nil)
    #expect(verdict.reason == .malformedJWS)
    let unsigned = Self.verifier.verdict(onAdAttributionKit: ["jws-string": .string("\(header).e30.")], expecting: nil)
    #expect(unsigned.reason == .unexpectedAlgorithm)
  }

  @Test("a postback from developer settings is accepted at a network's URL as a development postback; other foreign ones are not")
  func madeInSettings() throws {
    let mine: Set<String> = ["test.adattributionkit"]
    func made(_ network: String, _ kid: String, _ key: SigningKey) throws -> AdAttributionKitVerdict {
      try Self.adAttributionKitVerdict(kid: kid, with: key, expecting: mine) { $0["ad-network-identifier"] = .string(network) }
    }
    let settings = try made("development.adattributionkit", "apple-development-identifier/0", Self.developmentKey)
    #expect(settings.valid && settings.environment == .development)
    #expect(try made("test.adattributionkit", "apple-cas-identifier/0", Self.key).valid)
    #expect(try made("development.adattributionkit", "apple-cas-identifier/0", Self.key).reason == .wrongAdNetwork)
    let other = try made("other.adattributionkit", "apple-development-identifier/0", Self.developmentKey)
    #expect(other.reason == .wrongAdNetwork && other.field == "ad-network-identifier")
  }

  @Test("every missing required claim is named", arguments: claims.keys)
  func requiredClaims(_ name: String) throws {
    let verdict = try Self.adAttributionKitVerdict { $0[name] = nil }
    #expect(verdict.reason == .malformed && verdict.field == name)
  }

  @Test("unsigned values come from the body only, never from a claim of the same name")
  func unsignedFromBody() throws {
    let verdict = try Self.adAttributionKitVerdict {
      $0["conversion-value"] = 63
      $0["ad-interaction-type"] = "click"
    }
    #expect(verdict.valid)
    #expect(verdict.postback?.unsigned.received.isEmpty == true)
    #expect(verdict.postback?.payload["conversion-value"] == 63)
    #expect(verdict.postback?.conversionType == .reEngagement)
    #expect(verdict.postback?.typed()["payload"]?["conversion-type"] == "re-engagement", "one spelling for whoever reads it")
    // Members beside the JWS that have a claim's name are foreign.
    let beside = try Self.adAttributionKitVerdict(body: ["did-win": false, "country-code": "DE", "partner": 1, "ip": "198.51.100.1"])
    #expect(beside.postback?.didWin == true && beside.postback?.unsigned.received == ["country-code": "DE"])
    #expect(Set(beside.postback?.typed(foreign: ["partner"]).keys ?? []) == ["jws-string", "country-code", "partner", "payload"])
    #expect(beside.postback?.typed()["did-win"] == false)
    let newer = try Self.adAttributionKitVerdict { $0["conversion-type"] = "something-new" }
    #expect(newer.postback?.typed()["payload"]?["conversion-type"] == "something-new")
    #expect(verdict.naturalKey == "adattributionkit:test.adattributionkit:85546eb7-fd39-44bc-8990-c98a4ac36a49:1")
  }

  @Test("a known kid determines the key, and no other key is tried")
  func kidDecides() throws {
    #expect(try Self.adAttributionKitVerdict(kid: "apple-development-identifier/0").reason == .badSignature)
    #expect(try Self.adAttributionKitVerdict(kid: "apple-cas-identifier/1").reason == .unknownKey)
    #expect(ApplePublicKeys.environment(ofKid: "apple-cas-identifier/7") == .production)
    #expect(ApplePublicKeys.environment(ofKid: "something-new/0") == .development)
  }

  // MARK: Tiers

  @Test("the tier is the lowest one that explains the fields, and absent values are withheld instead of zero")
  func tiers() throws {
    func privacy(_ change: (inout JSONObject) -> Void) throws -> PrivacyTier {
      var object = Self.four
      object["source-app-id"] = nil
      change(&object)
      return try #require(try SKAdNetworkPostback(try Self.signed(object)).privacy)
    }
    #expect(try privacy { $0["source-app-id"] = 0 }.tierAtLeast == 3)
    #expect(try privacy { $0["source-domain"] = "example.com" }.tierAtLeast == 3)
    #expect(try privacy { $0["country-code"] = "US" }.tierAtLeast == 3)
    #expect(try privacy { _ in }.tierAtLeast == 2)
    #expect(try privacy { $0["source-identifier"] = "39" }.tierAtLeast == 0)
    #expect(
      try privacy {
        $0["source-identifier"] = "39"
        $0["conversion-value"] = 0
      }.tierAtLeast == 2)
    let coarse = try privacy {
      $0["source-identifier"] = "39"
      $0["coarse-conversion-value"] = "low"
    }
    #expect(coarse.tierAtLeast == 1)
    #expect(coarse.withheld == ["source-identifier", "source-app-id", "conversion-value", "country-code"])
    let later = try privacy {
      $0["source-identifier"] = "39"
      $0["postback-sequence-index"] = 2
    }
    #expect(later.tierAtLeast == 1)
    #expect(!later.withheld.contains("source-app-id"))
    let lost = try privacy { $0["did-win"] = false }
    #expect(lost.withheld.isEmpty)
    #expect(try Self.adAttributionKitVerdict().postback?.privacy.tierAtLeast == 1)
  }

  @Test("a fine value outside of the first window or of an ad that did not win does not raise the tier")
  func fineValueInWrongPlace() throws {
    func privacy(_ change: (inout JSONObject) -> Void) throws -> PrivacyTier {
      var object = Self.four
      object["source-app-id"] = nil
      object["source-identifier"] = "39"
      object["conversion-value"] = 63
      change(&object)
      let verdict = Self.verifier.verdict(onSKAdNetwork: try Self.signed(object))
      #expect(verdict.valid)
      return try #require(verdict.postback?.privacy)
    }
    #expect(try privacy { _ in }.tierAtLeast == 2)
    for window in [1, 2] {
      let later = try privacy { $0["postback-sequence-index"] = .integer(Int64(window)) }
      #expect(later.tierAtLeast == 1 && later.withheld == ["coarse-conversion-value", "country-code"])
      let kit = try Self.adAttributionKitVerdict(body: ["conversion-value": 63]) {
        $0["postback-sequence-index"] = .integer(Int64(window))
      }
      #expect(kit.valid && kit.postback?.privacy.tierAtLeast == 1)
    }
    let lost = try privacy { $0["did-win"] = false }
    #expect(lost.tierAtLeast == 0 && lost.withheld == ["source-identifier"])
    let kit = try Self.adAttributionKitVerdict(body: ["conversion-value": 63]) {
      $0["postback-sequence-index"] = 0
      $0["did-win"] = false
    }
    #expect(kit.valid && kit.postback?.privacy.tierAtLeast == 0)
  }

  @Test("a marketplace in the first postback is tier 1; an absent one is withheld")
  func marketplace() throws {
    let without = try Self.adAttributionKitVerdict { $0["postback-sequence-index"] = 0 }.postback?.privacy
    #expect(without?.tierAtLeast == 0 && without?.withheld.contains("marketplace-identifier") == true)
    let with = try Self.adAttributionKitVerdict {
      $0["postback-sequence-index"] = 0
      $0["marketplace-identifier"] = "com.apple.AppStore"
    }.postback?.privacy
    #expect(with?.tierAtLeast == 1 && with?.withheld.contains("marketplace-identifier") == false)
  }

  @Test("a postback before 4.0 has no tier, and only source and conversion value of a winning one can be withheld")
  func withheldBeforeFour() throws {
    func withheld(_ version: String, _ change: (inout JSONObject) -> Void = { _ in }) throws -> [String] {
      var object: JSONObject = [
        "version": .string(version), "ad-network-id": "example123.skadnetwork", "campaign-id": 7, "app-id": 525_463_029,
        "transaction-id": "6AAFB7A5-0170-41B5-BBE4-FE71DEDF1E30", "redownload": false, "fidelity-type": 1, "did-win": true,
        "attribution-signature": .string(Base64.encode(try Self.key.sign([0]).der)),
      ]
      change(&object)
      let postback = try SKAdNetworkPostback(object)
      #expect(postback.privacy == nil)
      return postback.withheld
    }
    #expect(try withheld("1.0") == [])
    for version in ["2.0", "2.1", "2.2", "3.0"] {
      #expect(try withheld(version) == ["source-app-id", "conversion-value"])
      #expect(try withheld(version) { $0["source-app-id"] = 0 } == ["conversion-value"])
      #expect(try withheld(version) { $0["conversion-value"] = 0 } == ["source-app-id"])
      let complete = try withheld(version) {
        $0["source-app-id"] = 0
        $0["conversion-value"] = 0
      }
      #expect(complete == [])
    }
    #expect(try withheld("3.0") { $0["did-win"] = false } == [])
  }

  // MARK: Keys

  @Test("the built-in keys are the ones that Apple publishes")
  func publishedKeys() throws {
    func digest(_ key: String) throws -> String {
      let bytes = try #require(Base64.decode(key))
      return Hex.encode(SHA256Digest.hash(bytes))
    }
    let p256 = "2d0358c1a7b212a61409aa21e6c899ac6d51e823e96f9e3cbf51b25f176b9bfe"
    #expect(try digest(ApplePublicKeys.publishedP192) == "6394d2c71db7d4e28e50a956f0e252e149e51f9cc6e3c60aa48bf5e08406258b")
    #expect(try digest(ApplePublicKeys.publishedP256) == p256)
    let expected = [
      "apple-cas-identifier/0": p256,
      "apple-development-identifier/0": "cac58f7397c543a01d04e3130453786a446f07faaca92a20ef696957439a1ea8",
      "apple-development-identifier/1": "d0afc601c2ec08963cb37608bcc274c82885b10ea73b81a3fcfd4bf998abd890",
    ]
    #expect(Set(ApplePublicKeys.publishedKids.keys) == Set(expected.keys))
    for (kid, keys) in ApplePublicKeys.publishedKids {
      let right = try #require(expected[kid])
      let digests = try keys.map(digest)
      #expect(digests == [right], "\(kid)")
    }
  }

  // MARK: Sniffing

  @Test("a body of neither kind is refused with the missing field")
  func neither() {
    func path(_ text: String) -> String? {
      do throws(JSONError) {
        _ = try PostbackSniffer.inspect(Array(text.utf8))
        return nil
      } catch { return error.path }
    }
    #expect(path("{}") == "jws-string")
    #expect(path(#"{"jws-string":null}"#) == "jws-string")
    #expect(path(#"{"ad-network-id":"a","transaction-id":"b"}"#) == "attribution-signature")
    #expect(path("[]") == "")
    #expect(path("") == "")
    #expect(path(#"{"a":1,"a":2}"#) == "a")
    #expect(path(#"{"jws-string":5}"#) == nil)
  }

  @Test("a key that no genuine postback can have is ignored")
  func boundedKey() throws {
    let body = #"{"attribution-signature":"x","ad-network-id":"\#(String(repeating: "a", count: 600))","transaction-id":"b"}"#
    let findings = try PostbackSniffer.inspect(Array(body.utf8))
    #expect(findings.kind == .skAdNetwork && findings.naturalKey == nil && findings.adNetworkId == nil)
  }
}
