@testable import AppleAttribution
import TestSupport
import Testing
import WireJSON

/// Values that Apple does not sign, in postbacks whose signature is right.
@Suite("Unsigned values")
struct UnsignedValuesTests {
  static let names = ["ad-interaction-type", "coarse-conversion-value", "conversion-value", "country-code"]
  static let unusable: [(String, [JSONValue])] = [
    (
      "conversion-value",
      [
        64, -1, "", "NULL", "none", "7a", true, [], [7], ["a": 7], .number(JSONNumber(1.5)!), "1.5", 1_000_000_000_000,
        .number(JSONNumber(1e300)!),
      ]
    ),
    ("coarse-conversion-value", ["", "none", "NULL", "lo", " low", "\u{2063}low", 2, false, ["low"], ["low": 1]]),
    ("country-code", ["", "USA", "U", "1A", "\u{C4}", "U\u{0}", 49, true, ["US"]]),
    ("ad-interaction-type", ["", "tap", "NULL", 1, true, [:]]),
  ]
  static let usable: [(String, JSONValue, JSONValue)] = [
    ("conversion-value", 0, 0), ("conversion-value", 63, 63), ("conversion-value", "7", 7), ("conversion-value", "63.0", 63),
    ("conversion-value", "6.3e1", 63), ("coarse-conversion-value", "LOW", "low"), ("coarse-conversion-value", "Medium", "medium"),
    ("coarse-conversion-value", "high", "high"), ("country-code", "DE", "DE"), ("country-code", "de", "DE"),
    ("ad-interaction-type", "click", "click"), ("ad-interaction-type", "VIEW", "view"),
  ]

  /// What the two verifiers find in a postback with these values; nil for a name that the framework does not have.
  private func found(_ values: JSONObject) throws -> [(unsigned: UnsignedValues, typed: JSONObject, privacy: PrivacyTier?)] {
    let isKitOnly = values["ad-interaction-type"] != nil
    let kit = try PostbackRulesTests.adAttributionKitVerdict(body: values)
    let postback = try #require(kit.postback, "\(values)")
    var found = [(postback.unsigned, postback.typed(), postback.privacy as PrivacyTier?)]
    guard !isKitOnly else { return found }
    let verdict = try PostbackRulesTests.verdict { for member in values.members { $0[member.key] = member.value } }
    #expect(verdict.valid, "\(values)")
    let network = try #require(verdict.postback)
    found.append((network.unsigned, network.typed(), network.privacy))
    return found
  }

  @Test("a value that cannot be used is dropped, named and kept as it came; the postback is valid", arguments: unusable)
  func dropped(name: String, values: [JSONValue]) throws {
    for value in values {
      for (unsigned, typed, privacy) in try found([name: value]) {
        #expect(unsigned.unusable == [name], "\(value)")
        #expect(unsigned.received == [name: value] && unsigned.usable.isEmpty)
        #expect(typed[name] == nil && privacy?.withheld.contains(name) == false, "\(value)")
      }
    }
  }

  @Test("of a long value that cannot be used, the beginning is kept, and it stays unusable")
  func shortened() throws {
    let limit = UnsignedValues.maxReceivedBytes
    for (value, kept) in [
      (.string(String(repeating: "x", count: limit)), .string(String(repeating: "x", count: limit))),
      (.string(String(repeating: "x", count: limit + 1)), .string(String(repeating: "x", count: limit))),
      (.string("x" + String(repeating: "é", count: limit)), .string("x" + String(repeating: "é", count: (limit - 1) / 2))),
      (.string(String(repeating: "0", count: limit) + "x"), .string(String(repeating: "0", count: limit))),
      (.array(Array(repeating: 7, count: limit)), .string("[" + String(repeating: "7,", count: limit).prefix(limit - 1))),
    ] as [(JSONValue, JSONValue)] {
      for (unsigned, _, _) in try found(["conversion-value": value]) {
        #expect(unsigned.unusable == ["conversion-value"] && unsigned.received == ["conversion-value": kept])
        let earlier = unsigned.earlier(unsigned.received)
        #expect(earlier.unusable == ["conversion-value"] && earlier.received == unsigned.received)
      }
    }
  }

  @Test("letter case and the spelling of a number do not matter", arguments: usable)
  func read(name: String, value: JSONValue, typed wanted: JSONValue) throws {
    for (unsigned, typed, _) in try found([name: value]) {
      #expect(unsigned.unusable.isEmpty && unsigned.received == [name: value] && unsigned.usable == [name: wanted])
      #expect(typed[name] == wanted)
    }
  }

  @Test("of two conversion values none is believed, and null is absent")
  func both() throws {
    let values: JSONObject = ["conversion-value": "3", "coarse-conversion-value": "LOW", "country-code": "USA"]
    for (unsigned, typed, privacy) in try found(values) {
      #expect(unsigned.unusable == ["coarse-conversion-value", "conversion-value", "country-code"] && unsigned.received == values)
      #expect(Self.names.allSatisfy { typed[$0] == nil } && unsigned.usable.isEmpty)
      #expect(privacy?.withheld.contains { values[$0] != nil } == false)
    }
    for (unsigned, _, _) in try found(["conversion-value": 3, "coarse-conversion-value": .null, "country-code": .null]) {
      #expect(unsigned.conversionValue == 3 && unsigned.unusable.isEmpty && unsigned.received == ["conversion-value": 3])
    }
    for (unsigned, _, _) in try found(["conversion-value": 64, "coarse-conversion-value": "high"]) {
      #expect(unsigned.coarseConversionValue == .high && unsigned.unusable == ["conversion-value"])
    }
  }

  @Test("an unusable value raises no tier; one that did not come is withheld")
  func tier() throws {
    func privacy(_ values: JSONObject) throws -> PrivacyTier {
      var object = PostbackRulesTests.four
      object["source-app-id"] = nil
      object["source-identifier"] = "39"
      for member in values.members { object[member.key] = member.value }
      return try #require(try SKAdNetworkPostback(try PostbackRulesTests.signed(object)).privacy)
    }
    #expect(try privacy(["conversion-value": 64]).tierAtLeast == 0 && privacy(["conversion-value": 63]).tierAtLeast == 2)
    #expect(try privacy(["coarse-conversion-value": ""]).tierAtLeast == 0 && privacy(["country-code": "USA"]).tierAtLeast == 0)
    #expect(
      try privacy(["coarse-conversion-value": ""]).withheld == ["source-identifier", "source-app-id", "conversion-value", "country-code"])
    #expect(try privacy(["conversion-value": ""]).withheld.contains("coarse-conversion-value"))
  }

  @Test("before 4.0 a conversion value that cannot be used was not withheld", arguments: ["2.0", "2.1", "2.2", "3.0"])
  func beforeFour(version: String) throws {
    let object: JSONObject = [
      "version": .string(version), "ad-network-id": "example123.skadnetwork", "campaign-id": 7, "app-id": 525_463_029,
      "transaction-id": "6AAFB7A5-0170-41B5-BBE4-FE71DEDF1E30", "redownload": false, "source-app-id": 5, "fidelity-type": 1,
      "did-win": true,
      "conversion-value": "NULL",
    ]
    let signed = version == "2.0" ? nil : try PostbackRulesTests.signed(object)
    let postback = try SKAdNetworkPostback(
      signed ?? object.merging("attribution-signature", .string("MAYCAQECAQE=")))
    #expect(postback.withheld == [] && postback.unsigned.unusable == ["conversion-value"] && postback.typed()["conversion-value"] == nil)
  }

  @Test("what a repeat says is compared by its usable values")
  func repeats() throws {
    func same(_ one: JSONObject, _ other: JSONObject) throws -> Bool {
      try found(one).allSatisfy { $0.unsigned.usable == $0.unsigned.earlier(other).usable }
    }
    #expect(try same(["conversion-value": 7], ["conversion-value": "7"]) && same([:], ["conversion-value": "NULL"]))
    #expect(try same(["coarse-conversion-value": "LOW"], ["coarse-conversion-value": "low", "conversion-value": ""]))
    // Events of older versions have fields of another version among the unsigned values.
    #expect(try same(["country-code": "de"], ["country-code": "DE", "campaign-id": 23, "did-win": true]))
    #expect(try !same(["conversion-value": 7], ["conversion-value": 8]) && !same(["conversion-value": 7], [:]))
    #expect(try !same(["conversion-value": 7], ["conversion-value": 7, "coarse-conversion-value": "low"]))
  }
}

extension JSONObject {
  fileprivate func merging(_ name: String, _ value: JSONValue) -> JSONObject {
    var object = self
    object[name] = value
    return object
  }
}
