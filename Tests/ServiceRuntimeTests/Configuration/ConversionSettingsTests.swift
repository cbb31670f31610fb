import Testing

@testable import ServiceRuntime

@Suite("Conversion settings") struct ConversionSettingsTests {
  private func conversions(_ entries: String) throws -> ConversionSettings {
    var unknown: [UnknownKey] = []
    let yaml = "{ version: \"a\", effectiveFrom: \"2026-09-01T00:00:00Z\", \(entries) }"
    return try ConversionSettings(try ConfigurationNode(yaml: yaml, file: "file"), &unknown)
  }

  private func sources(_ yaml: String) throws -> SourceIdentifierSettings {
    var unknown: [UnknownKey] = []
    return try SourceIdentifierSettings(try ConfigurationNode(yaml: yaml, file: "file"), &unknown)
  }

  @Test("digits in quotes are keys, with their leading zeros")
  func keys() throws {
    let settings = try sources(#"{ campaigns: { "39": spring, "07": autumn }, creatives: { "0007": video }, campaignIds: { "7": old } }"#)
    #expect(settings.campaigns == ["39": "spring", "07": "autumn"])
    #expect(settings.creatives == ["0007": "video"])
    #expect(settings.campaignIds == [7: "old"])
  }

  @Test("one campaign id in two spellings is refused")
  func twice() {
    #expect { try sources(#"{ campaignIds: { "7": a, "07": b } }"#) } throws: { ($0 as? ConfigurationError)?.place == ".campaignIds" }
  }

  @Test("one value or a range")
  func values() throws {
    let settings = try conversions(
      "fine: [{ values: 0, event: a }, { values: 1-10, event: b, revenue: { min: 5, max: 9.99, currency: USD } }]")
    #expect(settings.fine.map(\.values) == [0...0, 1...10])
    #expect(settings.fine[1].revenue == .init(minimum: 5, maximum: 9.99, currency: "USD"))
  }

  @Test("an invalid range is refused", arguments: ["-5", "5-", "1-2-3", "10-1", "a"])
  func noRange(text: String) {
    #expect(throws: ConfigurationError.self) { try conversions("fine: [{ values: \"\(text)\", event: a }]") }
  }

  @Test("a coarse value without a window is refused")
  func noWindow() {
    #expect { try conversions("coarse: [{ value: low, windows: [], event: a }]") } throws: {
      ($0 as? ConfigurationError)?.place == "coarse[0].windows"
    }
  }
}
