import TestSupport
import Testing
import WireJSON

@Suite("Whole numbers")
struct WholeNumberTests {
  @Test(
    "a fraction of zero and an exponent are other spellings of a whole number",
    arguments: [
      ("525463029.0", 525_463_029), ("5.25463029E8", 525_463_029), ("5254630290e-1", 525_463_029), ("0.0", 0), ("-0", 0), ("-0.0e5", 0),
      ("0e999999999999999999999", 0), ("0.000e-5", 0), ("-5e0", -5), ("1000e-3", 1), ("100e-1", 10), ("007", 7), ("1E+2", 100),
      ("9007199254740993.0", 9_007_199_254_740_993), ("9.007199254740993e15", 9_007_199_254_740_993), ("9223372036854775807", .max),
      ("9.223372036854775807e18", .max), ("-9223372036854775808.00", .min), ("-922337203685477580.8e1", .min),
      ("1e18", 1_000_000_000_000_000_000),
    ] as [(String, Int64)])
  func whole(text: String, value: Int64) throws {
    #expect(Int64(wholeNumber: text) == value)
    if !text.hasPrefix("00") { #expect(try JSONValue(parsing: text).int64Value == value) }
  }

  @Test(
    "no other text is a whole number",
    arguments: [
      "", "-", "+5", " 5", "5 ", ".5", "5.", "5e", "5e+", "5.0.0", "e5", "0x5", "1_0", "NaN", "\u{0665}", "5\u{0}", "--5", "5-", "0.5",
      "1.5e0",
      "15e-1", "1e-1", "1e-999999999", "9223372036854775808", "-9223372036854775809", "9.223372036854775808e18", "1e19", "1e20",
      "1e999999999", "1e999999999999999999999999", "18446744073709551616", "99999999999999999999.0", "0.30000000000000000000000001",
    ])
  func others(text: String) {
    #expect(Int64(wholeNumber: text) == nil)
    if !text.contains(" "), let value = try? JSONValue(parsing: text) { #expect(value.int64Value == nil) }
  }

  @Test("every spelling of a random integer is that integer, and one unit more in the last place is another")
  func spellings() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var random = SeededRandom(seed: seed)
    for _ in 0..<20_000 {
      let value = Int64(truncatingIfNeeded: UInt64.random(in: 0...UInt64.max, using: &random)) >> Int64.random(in: 0...63, using: &random)
      let text = Self.spelled(value, &random)
      #expect(Int64(wholeNumber: text) == value, "seed \(seed): \(text)")
      #expect(try JSONValue(parsing: text).int64Value == value, "seed \(seed): \(text)")
      let (other, overflow) = value.addingReportingOverflow(1)
      if !overflow { #expect(Int64(wholeNumber: Self.spelled(other, &random)) != value, "seed \(seed)") }
    }
  }

  /// A number in JSON, with its point anywhere, zeros behind it and the exponent that makes up for it.
  private static func spelled(_ value: Int64, _ random: inout SeededRandom) -> String {
    var digits = String(value.magnitude)
    var exponent = 0
    if value != 0, Bool.random(using: &random) {
      while digits.count > 1, digits.last == "0", Bool.random(using: &random) {
        digits.removeLast()
        exponent += 1
      }
    }
    let zeros = Int.random(in: 0...3, using: &random)
    digits += String(repeating: "0", count: zeros)
    exponent -= zeros
    // JSON allows no further zeros in front of the point.
    let split = Int.random(in: 1...digits.count, using: &random)
    let isZeroFirst = digits.first == "0"
    let whole = isZeroFirst ? "0" : String(digits.prefix(split))
    let fraction = isZeroFirst ? String(digits.dropFirst()) : String(digits.dropFirst(split))
    exponent += fraction.count
    var text = (value < 0 ? "-" : "") + whole
    if !fraction.isEmpty { text += "." + fraction }
    if exponent != 0 || Bool.random(using: &random) {
      text += Bool.random(using: &random) ? "e" : "E"
      text += exponent >= 0 && Bool.random(using: &random) ? "+\(exponent)" : "\(exponent)"
    }
    return text
  }

  @Test("letters A to Z have a lower case, and no other character changes")
  func lowerCase() {
    #expect("EXAMPLE123.SKAdNetwork".asciiLowercased == "example123.skadnetwork")
    for text in ["", "example", "\u{212A}\u{C4}\u{130}[@`{"] { #expect(text.asciiLowercased.isExactly(text)) }
  }
}
