import Testing

@testable import WireJSON

@Suite("Writing JSON")
struct JSONWriterTests {
  @Test("commas are written only between members and between elements")
  func commas() {
    var writer = JSONWriter()
    writer.beginObject()
    writer.key("a")
    writer.beginArray()
    writer.int(1)
    writer.beginObject()
    writer.endObject()
    writer.string("x")
    writer.endArray()
    writer.key("b")
    writer.bool(false)
    writer.key(dynamic: "c\"d")
    writer.null()
    writer.endObject()
    #expect(writer.text == #"{"a":[1,{},"x"],"b":false,"c\"d":null}"#)
  }

  @Test("characters that need escaping are found at every position of a string of any length")
  func places() throws {
    for length in 0...20 {
      for place in 0..<length {
        for byte in UInt8(0)...127 {
          var bytes = [UInt8](repeating: UInt8(ascii: "x"), count: length)
          bytes[place] = byte
          let text = String(decoding: bytes, as: UTF8.self)
          var writer = JSONWriter()
          writer.string(text)
          let isEscaped = byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
          guard isEscaped == (writer.bytes.count > length + 2), try JSONValue(parsing: writer.bytes).stringValue == text else {
            Issue.record("byte \(byte) at \(place) of \(length): \(writer.text)")
            return
          }
        }
      }
    }
    var writer = JSONWriter()
    writer.key(dynamic: "a\"b")
    writer.string("")
    #expect(writer.text == #""a\"b":"""#)
  }

  @Test("only quotes, backslashes and control characters are escaped")
  func escaping() throws {
    let text = "\u{0}\u{1F}\"\\/\n\r\té\u{2063}😀\u{2028}"
    var writer = JSONWriter()
    writer.string(text)
    #expect(writer.text == "\"\\u0000\\u001f\\\"\\\\/\\n\\r\\té\u{2063}😀\u{2028}\"")
    #expect(try JSONValue(parsing: writer.bytes) == .string(text))
  }

  @Test(
    "64-bit integers are numbers up to 2^53 − 1 and decimal strings beyond",
    arguments: [
      (9_007_199_254_740_991, "9007199254740991"), (9_007_199_254_740_992, "\"9007199254740992\""),
      (-9_007_199_254_740_991, "-9007199254740991"), (Int64.min, "\"-9223372036854775808\""), (0, "0"),
    ])
  func int64(value: Int64, text: String) {
    var writer = JSONWriter()
    writer.int64(value)
    #expect(writer.text == text)
  }

  @Test("doubles that JSON cannot represent are written as strings")
  func doubles() {
    var writer = JSONWriter()
    writer.beginArray()
    for value in [1, 0.5, .nan, .infinity, -.infinity] as [Double] { writer.double(value) }
    writer.endArray()
    #expect(writer.text == #"[1,0.5,"NaN","Infinity","-Infinity"]"#)
  }

  @Test("objects are equal independent of the order of their members")
  func equality() throws {
    #expect(try JSONValue(parsing: #"{"a":1,"b":2}"#) == JSONValue(parsing: #"{"b":2,"a":1}"#))
    #expect(try JSONValue(parsing: #"{"a":1}"#) != JSONValue(parsing: #"{"a":1.0}"#))
  }
}
