import AppleAttribution
import Cryptography
import PublicSuffixes
import TestSupport
import Testing
import WireJSON

@Suite("Impressions")
struct ImpressionTests {
  static let now: Int64 = 1_790_000_000_000
  static let network = "example123.skadnetwork"

  static func parameters(_ version: SKAdNetworkVersion, web: Bool = false) -> SKAdNetworkImpression.Parameters {
    var values = SKAdNetworkImpression.Parameters(
      version: version.rawValue, adNetworkId: network, itunesItemId: 525_463_029, nonce: "20FBA8A0-2B80-4A7D-A17F-85C1854727F8",
      timestamp: now)
    if version < .v4_0 { values.campaignId = 42 } else { values.sourceIdentifier = 5239 }
    if web { values.sourceDomain = "example.com" } else if version >= .v2_0 { values.sourceAppId = 1_234_567_891 }
    if version >= .v2_2 { values.fidelityType = 1 }
    return values
  }

  static func signed(_ parameters: SKAdNetworkImpression.Parameters) throws -> String {
    let impression = try SKAdNetworkImpression(validating: parameters, now: now, domains: .form)
    return String(decoding: impression.signedString, as: UTF8.self).replacing("\u{2063}", with: "|")
  }

  @Test("every version signs its values in Apple's order")
  func orders() throws {
    let nonce = "20fba8a0-2b80-4a7d-a17f-85c1854727f8"
    let expected: [SKAdNetworkVersion: String] = [
      .v1_0: "example123.skadnetwork|42|525463029|\(nonce)|1790000000000",
      .v2_0: "2.0|example123.skadnetwork|42|525463029|\(nonce)|1234567891|1790000000000",
      .v2_1: "2.1|example123.skadnetwork|42|525463029|\(nonce)|1234567891|1790000000000",
      .v2_2: "2.2|example123.skadnetwork|42|525463029|\(nonce)|1234567891|1|1790000000000",
      .v3_0: "3.0|example123.skadnetwork|42|525463029|\(nonce)|1234567891|1|1790000000000",
      .v4_0: "4.0|example123.skadnetwork|5239|525463029|\(nonce)|1234567891|1|1790000000000",
    ]
    for version in SKAdNetworkVersion.allCases { #expect(try Self.signed(Self.parameters(version)) == expected[version]) }
    #expect(
      try Self.signed(Self.parameters(.v4_0, web: true))
        == "4.0|example123.skadnetwork|5239|525463029|\(nonce)|example.com|1|1790000000000")
  }

  static let wrong: [(String, SKAdNetworkVersion, @Sendable (inout SKAdNetworkImpression.Parameters) -> Void)] = [
    ("version", .v4_0, { $0.version = nil }), ("version", .v4_0, { $0.version = "5.0" }), ("version", .v4_0, { $0.version = "4" }),
    ("adNetworkId", .v4_0, { $0.adNetworkId = nil }), ("adNetworkId", .v4_0, { $0.adNetworkId = "" }),
    ("adNetworkId", .v4_0, { $0.adNetworkId = "Example123.skadnetwork" }),
    ("adNetworkId", .v4_0, { $0.adNetworkId = "a\u{2063}b" }), ("adNetworkId", .v4_0, { $0.adNetworkId = "a b" }),
    ("campaignId", .v3_0, { $0.campaignId = nil }), ("campaignId", .v3_0, { $0.campaignId = 0 }),
    ("campaignId", .v3_0, { $0.campaignId = 101 }), ("campaignId", .v4_0, { $0.campaignId = 5 }),
    ("sourceIdentifier", .v4_0, { $0.sourceIdentifier = nil }), ("sourceIdentifier", .v4_0, { $0.sourceIdentifier = 10_000 }),
    ("sourceIdentifier", .v4_0, { $0.sourceIdentifier = -1 }), ("sourceIdentifier", .v3_0, { $0.sourceIdentifier = 5 }),
    ("itunesItemId", .v4_0, { $0.itunesItemId = nil }), ("itunesItemId", .v1_0, { $0.itunesItemId = 0 }),
    ("itunesItemId", .v1_0, { $0.itunesItemId = -7 }), ("sourceAppId", .v4_0, { $0.sourceAppId = nil }),
    ("sourceAppId", .v2_0, { $0.sourceAppId = -1 }), ("sourceAppId", .v1_0, { $0.sourceAppId = 1 }),
    ("sourceDomain", .v4_0, { $0.sourceDomain = "example.com" }), ("sourceDomain", .v3_0, { $0.sourceDomain = "example.com" }),
    ("fidelityType", .v2_2, { $0.fidelityType = nil }), ("fidelityType", .v4_0, { $0.fidelityType = 2 }),
    ("fidelityType", .v2_1, { $0.fidelityType = 1 }), ("fidelityType", .v1_0, { $0.fidelityType = 0 }),
    ("nonce", .v4_0, { $0.nonce = "x" }), ("nonce", .v4_0, { $0.nonce = "20FBA8A02B804A7DA17F85C1854727F8" }),
    ("nonce", .v4_0, { $0.nonce = "20FBA8A0-2B80-4A7D-A17F-85C1854727G8" }),
    ("timestamp", .v4_0, { $0.timestamp = now / 1000 }), ("timestamp", .v4_0, { $0.timestamp = now + 86_400_001 }),
    ("timestamp", .v4_0, { $0.timestamp = now - 86_400_001 }), ("timestamp", .v4_0, { $0.timestamp = 0 }),
    ("timestamp", .v4_0, { $0.timestamp = Int64.min }), ("timestamp", .v4_0, { $0.timestamp = Int64.max }),
  ]

  @Test("an invalid value is refused with the field's name", arguments: wrong.indices)
  func refused(_ index: Int) {
    let (field, version, change) = Self.wrong[index]
    var parameters = Self.parameters(version)
    change(&parameters)
    let error = #expect(throws: FieldError.self) { try SKAdNetworkImpression(validating: parameters, now: Self.now, domains: .form) }
    #expect(error?.field == field)
  }

  @Test("a timestamp in seconds is distinguished from an old one")
  func seconds() throws {
    var parameters = Self.parameters(.v4_0)
    parameters.timestamp = Self.now / 1000
    let error = #expect(throws: FieldError.self) { try SKAdNetworkImpression(validating: parameters, now: Self.now, domains: .form) }
    #expect(try #require(error).reason.contains("seconds"))
    #expect(
      try SKAdNetworkImpression(validating: parameters, now: Self.now, allowsAnyTime: true, domains: .form).timestamp == Self.now / 1000)
  }

  @Test("nonce and timestamp are generated if they are absent, and the number of digits is checked")
  func defaults() throws {
    var parameters = Self.parameters(.v4_0)
    parameters.nonce = nil
    parameters.timestamp = nil
    parameters.sourceIdentifier = 39
    let one = try SKAdNetworkImpression(validating: parameters, now: Self.now, domains: .form)
    let two = try SKAdNetworkImpression(validating: parameters, now: Self.now, domains: .form)
    #expect(one.nonce != two.nonce)
    #expect(one.timestamp == Self.now)
    #expect(one.sourceIdentifierDigits == 2)
    for (identifier, digits) in [(0, 1), (9, 1), (10, 2), (999, 3), (1000, 4), (9999, 4)] as [(Int64, Int)] {
      parameters.sourceIdentifier = identifier
      let deferred = try DeferredWebImpression(
        validating: .init(
          version: "4.0", adNetworkId: Self.network, sourceIdentifier: identifier, itunesItemId: 525_463_029),
        sourceDomains: [], domains: .form)
      #expect(try SKAdNetworkImpression(validating: parameters, now: Self.now, domains: .form).sourceIdentifierDigits == digits)
      #expect(deferred.sourceIdentifierDigits == digits)
    }
    #expect(try SKAdNetworkImpression(validating: Self.parameters(.v3_0), now: Self.now, domains: .form).sourceIdentifierDigits == nil)
  }

  @Test(
    "a source domain has the form of a domain",
    arguments: [
      "example", "Example.com", "https://example.com", "example.com:443", "example.com/", "example.com.", ".example.com",
      "192.0.2.1", "exa mple.com", "-a.com", "a-.com", "a..com", "exämple.com", "", "a\u{2063}.com",
    ])
  func wrongDomain(_ domain: String) {
    var parameters = Self.parameters(.v4_0, web: true)
    parameters.sourceDomain = domain
    let error = #expect(throws: FieldError.self) { try SKAdNetworkImpression(validating: parameters, now: Self.now, domains: .form) }
    #expect(error?.field == "sourceDomain")
  }

  @Test(
    "with the list, a web ad is signed for a registrable domain and for nothing above or below it",
    arguments: [
      ("example.com", nil), ("example.co.uk", nil), ("someone.github.io", nil), ("b.c.kobe.jp", nil), ("city.kobe.jp", nil),
      ("xn--85x722f.xn--55qx5d.cn", nil), ("shop.example.com", "example.com"), ("shop.example.co.uk", "example.co.uk"),
      ("a.someone.github.io", "someone.github.io"), ("www2.city.kobe.jp", "city.kobe.jp"), ("www.com", nil), ("www.gov.uk", nil),
      ("www.co.uk", nil), ("www.example.com", "example.com"), ("www.www.com", "www.com"), ("co.uk", ""), ("github.io", ""),
      ("c.kobe.jp", ""), ("xn--55qx5d.cn", ""),
    ] as [(String, String?)])
  func registrableDomain(domain: String, wanted: String?) throws {
    let list = try #require(PublicSuffixList.builtIn)
    var parameters = Self.parameters(.v4_0, web: true)
    parameters.sourceDomain = domain
    func failure(_ rule: SourceDomainRule) -> FieldError? {
      do throws(FieldError) { _ = try SKAdNetworkImpression(validating: parameters, now: Self.now, domains: rule) } catch { return error }
      return nil
    }
    // By its syntax alone, each of them could be a registrable domain.
    #expect(failure(.form) == nil)
    guard let wanted else {
      #expect(failure(.registrable(list)) == nil)
      return
    }
    let error = try #require(failure(.registrable(list)))
    #expect(error.field == "sourceDomain")
    #expect(error.reason.contains(wanted.isEmpty ? "public suffix" : "which is \(wanted)"))
    parameters.sourceDomain = nil
    parameters.timestamp = nil
    let kept = #expect(throws: FieldError.self) {
      try DeferredWebImpression(validating: parameters, sourceDomains: ["example.com", domain], domains: .registrable(list))
    }
    #expect(kept?.field == "sourceDomains[1]")
  }

  @Test("a registrable domain that begins with www. is signed, stored and verified", arguments: ["www.gov.uk", "www.ck"])
  func registrableWithWWW(domain: String) throws {
    let rule = SourceDomainRule.registrable(try #require(PublicSuffixList.builtIn))
    let key = try SigningKey.generate()
    var parameters = Self.parameters(.v4_0, web: true)
    parameters.sourceDomain = domain
    let signature = try SKAdNetworkImpression(validating: parameters, now: Self.now, domains: rule).sign(with: key)
    let verifier = ImpressionVerifier(keys: [Self.network: [.init(id: "k1", key: key.publicKey)]])
    #expect(verifier.verdict(onSKAdNetwork: parameters, signature: signature).keyId == "k1")

    parameters.sourceDomain = nil
    parameters.timestamp = nil
    let deferred = try DeferredWebImpression(validating: parameters, sourceDomains: [domain, "example.org"], domains: rule)
    let stored = try #require(DeferredWebImpression(stored: deferred.stored))
    #expect(stored == deferred)
    for site in [domain, "example.org"] {
      let request = try WebPayloadRequest(nonce: deferred.nonce.base64URL, sourceDomain: site, version: "4.0")
      #expect(stored.allows(request.sourceDomain))
      #expect(try stored.impression(for: request, now: Self.now).impression.sourceDomain == site)
    }
  }

  @Test("a web ad has its nonce in both encodings and no fidelity type")
  func web() throws {
    var parameters = Self.parameters(.v4_0, web: true)
    parameters.fidelityType = nil
    let dashed = try SKAdNetworkWebImpression(validating: parameters, now: Self.now, domains: .form)
    #expect(dashed.nonce.uuid == "20fba8a0-2b80-4a7d-a17f-85c1854727f8")
    parameters.nonce = dashed.nonce.base64URL
    #expect(dashed.nonce.base64URL.utf8.count == 22)
    let encoded = try SKAdNetworkWebImpression(validating: parameters, now: Self.now, domains: .form)
    #expect(encoded == dashed)
    let payload = dashed.payload(signature: "c2ln")
    #expect(
      Set(payload.keys) == [
        "version", "ad_network_id", "source_identifier", "itunes_item_id", "nonce", "source_domain", "timestamp", "signature",
      ])
    #expect(dashed.impression.fidelityType == 1)
    for nonce in ["AAAA", "AAAAAAAAAAAAAAAAAAAAAA==", String(repeating: "A", count: 21) + "B", "not a nonce"] {
      parameters.nonce = nonce
      let error = #expect(throws: FieldError.self) { try SKAdNetworkWebImpression(validating: parameters, now: Self.now, domains: .form) }
      #expect(error?.field == "nonce")
    }
    parameters = Self.parameters(.v3_0)
    let error = #expect(throws: FieldError.self) { try SKAdNetworkWebImpression(validating: parameters, now: Self.now, domains: .form) }
    #expect(error?.field == "version")
  }

  @Test("random valid impressions of every version sign and verify; with any value changed they do not")
  func property() throws {
    var random = SeededRandom("impressions")
    let key = try SigningKey.generate()
    let verifier = ImpressionVerifier(keys: [Self.network: [.init(id: "k1", key: key.publicKey)]])
    for _ in 0..<300 {
      let version = SKAdNetworkVersion.allCases.randomElement(using: &random)!
      let web = version == .v4_0 && Bool.random(using: &random)
      var parameters = Self.parameters(version, web: web)
      if version < .v4_0 { parameters.campaignId = .random(in: 1...100, using: &random) }
      if version == .v4_0 { parameters.sourceIdentifier = .random(in: 0...9999, using: &random) }
      parameters.itunesItemId = .random(in: 1...Int64.max, using: &random)
      if parameters.sourceAppId != nil { parameters.sourceAppId = .random(in: 0...Int64.max, using: &random) }
      if version >= .v2_2, !web { parameters.fidelityType = .random(in: 0...1, using: &random) }
      parameters.nonce = Bool.random(using: &random) ? RandomBytes.uuid() : RandomBytes.uuid().uppercased()
      parameters.timestamp = Self.now + .random(in: -86_400_000...86_400_000, using: &random)
      let signature = try SKAdNetworkImpression(validating: parameters, now: Self.now, domains: .form).sign(with: key)
      let verdict = verifier.verdict(onSKAdNetwork: parameters, signature: signature)
      #expect(verdict.valid && verdict.keyId == "k1")
      for change in Self.changes(of: parameters) {
        let changed = verifier.verdict(onSKAdNetwork: change, signature: signature)
        #expect(changed.reason == .badSignature || changed.reason == .malformed, "\(change)")
        #expect(changed.keyId == nil)
      }
    }
  }

  static func changes(of given: SKAdNetworkImpression.Parameters) -> [SKAdNetworkImpression.Parameters] {
    var all: [SKAdNetworkImpression.Parameters] = []
    func add(_ change: (inout SKAdNetworkImpression.Parameters) -> Void) {
      var changed = given
      change(&changed)
      if changed != given { all.append(changed) }
    }
    add { $0.campaignId = $0.campaignId.map { $0 % 100 + 1 } }
    add { $0.sourceIdentifier = $0.sourceIdentifier.map { ($0 + 1) % 10_000 } }
    add { $0.itunesItemId = $0.itunesItemId! ^ 2 | 1 }
    add { $0.sourceAppId = $0.sourceAppId.map { $0 ^ 1 } }
    add { $0.sourceDomain = $0.sourceDomain.map { _ in "example.org" } }
    if given.sourceDomain == nil { add { $0.fidelityType = $0.fidelityType.map { 1 - $0 } } }
    add { $0.nonce = RandomBytes.uuid() }
    add { $0.timestamp = $0.timestamp! + 1 }
    for version in SKAdNetworkVersion.allCases { add { $0.version = version.rawValue } }
    return all
  }

  @Test("foreign, incomplete and malformed impressions have different reasons")
  func verdicts() throws {
    let key = try SigningKey.generate()
    let verifier = ImpressionVerifier(keys: [Self.network: [.init(id: "k1", key: key.publicKey)], "empty.skadnetwork": []])
    let parameters = Self.parameters(.v4_0)
    let signature = try SKAdNetworkImpression(validating: parameters, now: Self.now, domains: .form).sign(with: key)
    func reason(_ signature: String?, _ change: (inout SKAdNetworkImpression.Parameters) -> Void = { _ in }) -> PostbackReason? {
      var parameters = parameters
      change(&parameters)
      return verifier.verdict(onSKAdNetwork: parameters, signature: signature).reason
    }
    #expect(reason(signature) == nil)
    #expect(reason(nil) == .malformed)
    #expect(reason("%%%") == .malformedSignature)
    #expect(reason(signature + "AAAA") == .malformedSignature)
    #expect(reason(signature) { $0.version = "9.0" } == .unsupportedVersion)
    #expect(reason(signature) { $0.adNetworkId = "other.skadnetwork" } == .unknownKey)
    #expect(reason(signature) { $0.adNetworkId = "empty.skadnetwork" } == .unknownKey)
    #expect(reason(signature) { $0.nonce = nil } == .malformed)
    #expect(reason(signature) { $0.timestamp = nil } == .malformed)
  }
}
