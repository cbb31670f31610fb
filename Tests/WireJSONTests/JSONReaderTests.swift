import TestSupport
import Testing

@testable import WireJSON

@Suite("Reading JSON")
struct JSONReaderTests {
  @Test(
    "valid RFC 8259 documents are unchanged after reading and writing",
    arguments: [
      "{}", "[]", "null", "true", "false", "\"\"", "0", "-0", "1.5", "-1e10", "2E+3", "9223372036854775808",
      "12345678901234567890123", "{\"a\":{\"b\":[1,2,{\"c\":null}]},\"d\":\"x\"}", "\"é😀\"", "[[[[]]]]",
    ])
  func accepted(text: String) throws {
    #expect(try JSONValue(parsing: text).serializedString == text)
  }

  @Test(
    "input that is not strict JSON is refused",
    arguments: [
      "", " ", "{", "}", "[", "[1,]", "{\"a\":1,}", "{\"a\"}", "{a:1}", "{'a':1}", "01", "1.", ".5", "+1", "1e", "--1",
      "NaN", "Infinity", "tru", "nul", "\"", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\udc00\"", "\"\\ud800\\u0041\"",
      "\"\u{01}\"", "\"\t\"", "1 2", "{} {}", "[1 2]", "{\"a\":1 \"b\":2}", "\u{FEFF}{}", "// x\n1", "[,1]", "{,}",
    ])
  func refused(text: String) {
    #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
  }

  @Test(
    "invalid UTF-8 inside a string is refused",
    arguments: [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xE2, 0x82]] as [[UInt8]])
  func invalidUTF8(bytes: [UInt8]) {
    #expect(throws: JSONError.self) { try JSONValue(parsing: [0x22] + bytes + [0x22]) }
  }

  @Test("escapes are decoded, including surrogate pairs")
  func escapes() throws {
    #expect(try JSONValue(parsing: #""\"\\\/\b\f\n\r\t\u0041\ud83d\ude00""#) == .string("\"\\/\u{8}\u{c}\n\r\tA😀"))
  }

  @Test("the end of a string, a control character and an invalid sequence are found at every position, for strings of any length")
  func places() throws {
    for length in 0...20 {
      for place in 0..<max(1, length) {
        for byte in UInt8.min...UInt8.max {
          var content = [UInt8](repeating: UInt8(ascii: "x"), count: length)
          if place < length { content[place] = byte }
          // The shortest text that contains the string, and one with more text after it.
          for rest in ["", "          ,\"beyond\""] {
            let bytes = [0x22] + content + [0x22] + Array(rest.utf8)
            var (reader, passing) = (JSONReader(bytes), JSONReader(bytes))
            let text = try? reader.readString()
            let isPassed = (try? passing.passValue()) != nil
            // The string ends at the byte, or its end is escaped so that it continues, or it contains an invalid byte.
            let content = String(decoding: content, as: UTF8.self)
            let expected: String? =
              switch byte {
              case _ where length == 0: ""
              case UInt8(ascii: "\""): String(content.prefix(place))
              case UInt8(ascii: "\\"): place == length - 1 && !rest.isEmpty ? String(content.dropLast()) + "\"" + rest.dropLast(8) : nil
              case 0x20..<0x80: content
              default: nil
              }
            // Characters beyond ASCII are checked with the whole text.
            let isRight = text == expected && (byte >= 0x80 || isPassed == (expected != nil))
            guard isRight, expected == nil || reader.position == passing.position else {
              Issue.record("\(byte) at \(place) of \(length), \(rest): \(text ?? "nil"), \(isPassed)")
              return
            }
          }
        }
      }
    }
    #expect(try JSONValue(parsing: "\"aaaaaaaaé\u{2063}bbbbbbbbbbb\"") == .string("aaaaaaaaé\u{2063}bbbbbbbbbbb"))
  }

  @Test("a repeated name is found at any depth, with any escaping, and in large objects")
  func duplicates() throws {
    #expect(throws: JSONError(.duplicateKey("b"), path: "a[1].b")) {
      try JSONValue(parsing: #"{"a":[0,{"b":1,"\u0062":2}]}"#)
    }
    let many = (0..<1000).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
    #expect(try JSONValue(parsing: "{\(many)}").objectValue?.members.count == 1000)
    #expect(throws: JSONError.self) { try JSONValue(parsing: "{\(many),\"k500\":0}") }
  }

  @Test("depth and count are refused immediately above their limit")
  func limits() throws {
    let deep = { (levels: Int) in String(repeating: "[", count: levels) + String(repeating: "]", count: levels) }
    #expect(throws: Never.self) { try JSONValue(parsing: deep(32)) }
    #expect(throws: JSONError.self) { try JSONValue(parsing: deep(33)) }
    let limits = JSONLimits(depth: 4, values: 5)
    #expect(throws: Never.self) { try JSONValue(parsing: Array("[1,2,3,4]".utf8), limits: limits) }
    #expect(throws: JSONError(.tooManyValues(limit: 5), path: "[4]")) {
      try JSONValue(parsing: Array("[1,2,3,4,5]".utf8), limits: limits)
    }
    #expect(throws: JSONError.self) { try JSONValue(parsing: Array(repeating: UInt8(ascii: "["), count: 1_000_000)) }
  }

  @Test("integers keep every digit and are parsed from numbers, decimal strings and zero fractions")
  func integers() throws {
    func read(_ text: String) throws(JSONError) -> Int64 {
      var reader = JSONReader(Array(text.utf8))
      return try reader.readInt64()
    }
    #expect(try read("9223372036854775807") == .max)
    #expect(try read("\"-9223372036854775808\"") == .min)
    #expect(try read("5.0") == 5)
    #expect(try read("5e2") == 500)
    #expect(try read("9223372036854775807.0") == .max && read("-9.223372036854775808e18") == .min)
    #expect(try read("9.007199254740993e15") == 9_007_199_254_740_993)
    // Numbers with up to 18 digits are parsed in a fast way.
    for digits in 15...19 {
      for sign in ["", "-"] {
        for text in [String(repeating: "9", count: digits), "1" + String(repeating: "0", count: digits - 1)] {
          #expect((try? read(sign + text)) == Int64(sign + text), "\(sign + text)")
          #expect((try? read(sign + text + " ")) == Int64(sign + text))
        }
      }
    }
    #expect(try read("-0") == 0)
    for text in ["01", "-01", "-", "00", "1.", "1e", "99999999999999999999", "-99999999999999999999"] {
      #expect(throws: JSONError.self) { try read(text) }
    }
    for text in [
      "5.5", "9223372036854775808", "\"\"", "\" 1\"", "\"+1\"", "\"1.0\"", "true", "null", "1e30", "9223372036854775807.5",
      "9223372036854775808.0", "-9.223372036854775809e18", "1e999999999",
    ] {
      #expect(throws: JSONError.self) { try read(text) }
    }
  }

  @Test("random and damaged input never crashes the reader, and accepted documents are unchanged after writing and reading")
  func damage() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("seed \(seed)")
    var generator = SeededRandom(seed: seed)
    let sample = Array(#"{"a":[1,-2.5e3,"x\u00e9\n",{"b":null,"c":true}],"d":{"e":"\ud83d\ude00"},"f":[]}"#.utf8)
    var accepted = 0
    for _ in 0..<20_000 {
      var bytes = sample
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.remove(at: index)
        default: bytes.insert(bytes.randomElement(using: &generator)!, at: index)
        }
      }
      guard let value = try? JSONValue(parsing: bytes) else { continue }
      accepted += 1
      #expect(try JSONValue(parsing: value.serialized) == value, "seed \(seed)")
    }
    #expect(accepted > 0, "seed \(seed)")
  }
}
