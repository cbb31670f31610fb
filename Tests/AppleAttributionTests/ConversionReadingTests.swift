import TestSupport
import Testing
import WireJSON

@testable import AppleAttribution

private let day: Int64 = 86_400_000

/// The same as `meaning` for valid values.
private func right(_ event: String, _ low: Double? = nil, _ high: Double? = nil) -> ConversionMeaning {
  do { return try meaning(event, low, high) } catch { preconditionFailure("\(error)") }
}

private func meaning(_ event: String, _ low: Double? = nil, _ high: Double? = nil) throws -> ConversionMeaning {
  try ConversionMeaning(
    event: event, revenue: low.map { try .init(minimum: $0, maximum: high ?? $0, currency: "USD") })
}

private func schema(_ version: String, from day0: Int64, _ fine: [(ClosedRange<Int>, String)] = [], low: String? = nil) throws
  -> ConversionSchema
{
  try ConversionSchema(
    version: version, effectiveFrom: day0 * day, fine: try fine.map { ($0.0, try meaning($0.1)) },
    coarse: try low.map { [(.low, windows: [0, 1, 2], try meaning($0))] } ?? [])
}

@Suite("Conversion values") struct ConversionReadingTests {
  @Test("fine, coarse, missing and meaningless conversion values")
  func kinds() throws {
    let schemas = try ConversionSchemas([
      try ConversionSchema(
        version: "a", effectiveFrom: day,
        fine: [(0...0, try meaning("install")), (1...10, try meaning("purchase", 0.99, 9.99)), (63...63, try meaning("whale", 100))],
        coarse: [(.high, windows: [1, 2], try meaning("kept"))])
    ])
    func read(_ fine: Int?, _ coarse: CoarseConversionValue? = nil, window: Int = 0) -> ConversionReading {
      schemas.reading(fine: fine, coarse: coarse, window: window, receivedAt: 100 * day)
    }
    #expect(read(0) == .decoded(right("install"), schema: "a"))
    #expect(read(1) == .decoded(right("purchase", 0.99, 9.99), schema: "a"))
    #expect(read(10) == read(1))
    #expect(read(11) == .unmapped)
    #expect(read(63) == .decoded(right("whale", 100), schema: "a"))
    #expect(read(nil) == .unknown)
    #expect(read(nil, .high, window: 1) == .decoded(right("kept"), schema: "a"))
    #expect(read(nil, .high, window: 0) == .unmapped)
    #expect(read(nil, .low, window: 1) == .unmapped)
    #expect(
      String(decoding: JSONValue.object(read(1).json).serialized, as: UTF8.self)
        == #"{"status":"decoded","event":"purchase","revenue":{"min":0.99,"max":9.99,"currency":"USD"},"schema":"a"}"#)
  }

  @Test("a version counts until exactly 45 days after it was replaced")
  func edges() throws {
    let schemas = try ConversionSchemas([
      try schema("old", from: 100, [(1...1, "trial")]), try schema("new", from: 200, [(1...1, "purchase")]),
    ])
    func read(_ at: Int64) -> ConversionReading { schemas.reading(fine: 1, coarse: nil, window: 0, receivedAt: at) }
    // From the moment at which the new version takes effect, there are two possible meanings; a millisecond earlier there is one.
    #expect(read(200 * day - 1) == .decoded(right("trial"), schema: "old"))
    let both = ConversionReading.ambiguous([
      .init(schema: "old", meaning: right("trial")), .init(schema: "new", meaning: right("purchase")),
    ])
    #expect(read(200 * day) == both)
    #expect(read(245 * day - 1) == both)
    #expect(read(245 * day) == .decoded(right("purchase"), schema: "new"))
    // Before the first version, values had no meaning.
    #expect(read(100 * day - 1) == .unmapped)
    #expect(read(100 * day) == .ambiguous([.init(schema: nil, meaning: nil), .init(schema: "old", meaning: right("trial"))]))
    #expect(read(145 * day) == .decoded(right("trial"), schema: "old"))
  }

  @Test("a value of the last window that arrives with the device's last retries may belong to a version that was replaced 42 days before")
  func retries() throws {
    let schemas = try ConversionSchemas([
      try schema("old", from: 1, low: "kept"), try schema("new", from: 200, low: "active"),
    ])
    // It was set on day 8 of an installation, a moment before the new version, and is received on day 50.
    let reading = schemas.reading(fine: nil, coarse: .low, window: 2, receivedAt: 242 * day)
    #expect(
      reading == .ambiguous([.init(schema: "old", meaning: right("kept")), .init(schema: "new", meaning: right("active"))]))
  }

  @Test("a value whose meaning did not change is not ambiguous")
  func same() throws {
    let schemas = try ConversionSchemas([
      try schema("1", from: 10, [(1...5, "purchase"), (6...6, "x")]), try schema("2", from: 60, [(1...5, "purchase"), (6...6, "y")]),
      try schema("3", from: 70, [(1...5, "purchase")]),
    ])
    #expect(schemas.reading(fine: 3, coarse: nil, window: 0, receivedAt: 71 * day) == .decoded(right("purchase"), schema: "3"))
    guard case .ambiguous(let alternatives) = schemas.reading(fine: 6, coarse: nil, window: 0, receivedAt: 71 * day) else {
      Issue.record("three versions differ")
      return
    }
    #expect(alternatives.map(\.schema) == ["1", "2", "3"] && alternatives.last?.meaning == nil)
  }

  @Test("a value is decoded exactly when every version in question agrees")
  func property() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededRandom(seed: seed)
    let events = ["a", "b"]
    for _ in 0..<500 {
      let count = Int.random(in: 0...4, using: &random)
      let days = (0..<400).shuffled(using: &random).prefix(count)
      let versions = try days.map { at in
        try schema(
          "\(at)", from: Int64(at) + 1,
          (0..<4).compactMap { Bool.random(using: &random) ? ($0...$0, events.randomElement(using: &random)!) : nil })
      }
      let schemas = try ConversionSchemas(versions)
      let received = Int64.random(in: 1...450, using: &random) * day
      let value = Int.random(in: 0..<4, using: &random)
      // The expected result is computed for every hour, independently of the tested code.
      var seen: Set<ConversionMeaning?> = []
      for hour in stride(from: received - 45 * day, through: received, by: 3_600_000) {
        let inForce = versions.filter { $0.effectiveFrom <= hour }.max { $0.effectiveFrom < $1.effectiveFrom }
        seen.insert(inForce?.meaning(fine: value, coarse: nil, window: 0))
      }
      switch schemas.reading(fine: value, coarse: nil, window: 0, receivedAt: received) {
      case .decoded(let meaning, _): #expect(seen == [meaning], "seed \(seed)")
      case .unmapped: #expect(seen == [nil], "seed \(seed)")
      case .ambiguous(let alternatives): #expect(seen.count > 1 && Set(alternatives.map(\.meaning)) == seen, "seed \(seed)")
      case .unknown, .development: Issue.record("a value was there, seed \(seed)")
      }
    }
  }

  @Test("a fine value belongs only to the first window", arguments: [1, 2])
  func fineInLaterWindow(window: Int) throws {
    let schemas = try ConversionSchemas([try schema("a", from: 1, [(5...5, "purchase")])])
    #expect(schemas.reading(fine: 5, coarse: nil, window: window, receivedAt: 100 * day) == .unmapped)
  }

  @Test("an invalid schema is refused with the field's name")
  func refusals() throws {
    func field(_ make: () throws -> Void) -> String? {
      do { try make() } catch { return (error as? FieldError)?.field }
      return nil
    }
    #expect(field { _ = try schema("a", from: 1, [(1...3, "x"), (3...4, "y")]) } == "fine[1].values")
    #expect(field { _ = try schema("a", from: 1, [(60...64, "x")]) } == "fine[0].values")
    #expect(field { _ = try schema("", from: 1) } == "version")
    #expect(field { _ = try schema("a", from: 0) } == "effectiveFrom")
    #expect(field { _ = try meaning("") } == "event")
    #expect(field { _ = try meaning("x", 2, 1) } == "max")
    #expect(field { _ = try ConversionMeaning.Revenue(minimum: 1, maximum: 2, currency: "usd") } == "currency")
    #expect(field { _ = try ConversionSchemas([try schema("a", from: 1), try schema("b", from: 1)]) } == "[1].effectiveFrom")
    #expect(field { _ = try ConversionSchemas([try schema("a", from: 1), try schema("a", from: 2)]) } == "[1].version")
    #expect(
      field {
        _ = try ConversionSchema(
          version: "a", effectiveFrom: 1, fine: [], coarse: [(.low, windows: [3], try meaning("x"))])
      } == "coarse[0].windows")
    #expect(
      field {
        _ = try ConversionSchema(
          version: "a", effectiveFrom: 1, fine: [],
          coarse: [(.low, windows: [1], try meaning("x")), (.low, windows: [0, 1], try meaning("y"))])
      } == "coarse[1].value")
  }
}

@Suite("Source identifiers") struct SourceIdentifierNamesTests {
  private func text(_ object: JSONObject) -> String { String(decoding: JSONValue.object(object).serialized, as: UTF8.self) }

  @Test("digits are matched from the right, leading zeros count, and withheld digits are unknown")
  func levels() throws {
    let names = try SourceIdentifierNames(
      [.campaign: ["39": "spring", "07": "seven"], .adGroup: ["239": "women"], .creative: ["5239": "video"]], campaignIds: [7: "old"])
    #expect(
      text(names.json(sourceIdentifier: "5239"))
        == #"{"digits":4,"campaign":{"status":"named","digits":"39","name":"spring"},"adGroup":{"status":"named","digits":"239","name":"women"},"creative":{"status":"named","digits":"5239","name":"video"}}"#
    )
    #expect(
      text(names.json(sourceIdentifier: "139"))
        == #"{"digits":3,"campaign":{"status":"named","digits":"39","name":"spring"},"adGroup":{"status":"unnamed","digits":"139"},"creative":{"status":"unknown"}}"#
    )
    #expect(names.json(sourceIdentifier: "07")["campaign"]?["name"] == "seven")
    #expect(names.json(sourceIdentifier: "70")["campaign"]?["status"] == "unnamed")
    #expect(names.json(campaignId: 7)["campaign"]?["name"] == "old")
    #expect(names.json(campaignId: 8)["campaign"]?["status"] == "unnamed")
  }

  @Test("keys of another length and campaign ids out of range are refused")
  func refusals() {
    #expect(throws: FieldError.self) { try SourceIdentifierNames([.campaign: ["7": "x"]]) }
    #expect(throws: FieldError.self) { try SourceIdentifierNames([.adGroup: ["12a": "x"]]) }
    #expect(throws: FieldError.self) { try SourceIdentifierNames([:], campaignIds: [101: "x"]) }
  }
}
