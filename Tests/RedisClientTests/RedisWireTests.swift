import NIOCore
import Testing

@testable import RedisClient

@Suite struct RedisWireTests {
  @Test func `A command is an array of bulk strings, counted in bytes`() {
    var buffer = ByteBuffer()
    let words = EncodedArguments(["SET", .string("ü"), .bytes([0, 13, 10]), -7])
    buffer.writeRedisCommand(words)
    let expected = "*4\r\n$3\r\nSET\r\n$2\r\nü\r\n$3\r\n\u{0}\r\n\r\n$2\r\n-7\r\n"
    #expect(Array(buffer.readableBytesView) == Array(expected.utf8))
    #expect(words.decoded == [Array("SET".utf8), Array("ü".utf8), [0, 13, 10], Array("-7".utf8)])
  }

  @Test func `A reply is parsed if its bytes are complete`() {
    let text = "*2\r\n$3\r\na\r\n\r\n*1\r\n:-7\r\n"
    let reply = RedisReply(parsing: Array(text.utf8))
    #expect(reply?.array?.first?.bytes == [97, 13, 10])
    #expect(reply?.array?.last?.array?.first?.integer == -7)
    #expect(RedisReply(parsing: Array("$0\r\n\r\n".utf8))?.string == "")
    for part in 0..<text.utf8.count { #expect(RedisReply(parsing: Array(text.utf8.prefix(part))) == nil, "\(part)") }
    for broken in [
      "x", "*2\r\n:1\r\n", "$-2\r\n", "*1001\r\n" + String(repeating: ":1\r\n", count: 1001), String(repeating: "*1\r\n", count: 50),
    ] {
      #expect(RedisReply(parsing: Array(broken.utf8)) == nil, "\(broken.prefix(20))")
    }
  }

  @Test func `A word may be written in two parts`() {
    var words = EncodedArguments()
    words.append("{attr:017}:", "x")
    words.append("bucket:", -12)
    words.append(contentsOf: EncodedArguments(["end"]))
    #expect(words.count == 3)
    #expect(words.decoded.map { String(decoding: $0, as: UTF8.self) } == ["{attr:017}:x", "bucket:-12", "end"])
  }

  @Test(arguments: [0, 1, 4070, 4085, 4086, 4087, 9000])
  func `Words of any length that are appended without a copy are unchanged`(_ length: Int) {
    let text = String(repeating: "x", count: length)
    let inner: [RedisArgument] = [.string(text), .bytes(Array(text.utf8)), .integer(Int64(length))]
    var outer = EncodedArguments(["EVALSHA"])
    outer.append(contentsOf: EncodedArguments(inner))
    outer.append("ü", "é")
    var whole = EncodedArguments()
    whole.append(contentsOf: outer)
    whole.append(contentsOf: EncodedArguments(["end"]))
    let flat = EncodedArguments(["EVALSHA"] + inner + [.string("üé"), "end"])
    #expect(whole.count == flat.count && whole.size == flat.size && whole.decoded == flat.decoded)
    var (buffer, expected) = (ByteBuffer(), ByteBuffer())
    buffer.writeRedisCommand(whole)
    expected.writeRedisCommand(flat)
    #expect(buffer == expected)
  }

  @Test(arguments: [0, 9, 10, -1, -10, 999, 1000, Int64.max, Int64.min])
  func `A number is written in decimal`(_ value: Int64) {
    var buffer = ByteBuffer()
    buffer.writeRedisCommand(EncodedArguments([.integer(value)]))
    #expect(String(buffer: buffer) == "*1\r\n$\(String(value).utf8.count)\r\n\(value)\r\n")
  }

  @Test func `Replies are parsed however their bytes are divided`() throws {
    let expected = [
      "'OK'", "-3", "null", "['a\r\n', null, [1, [], 'b'], '']", "error ERR no", "'9223372036854775807'", "[]",
    ]
    // The bulk string of three bytes is `a`, CR, LF, followed by its own end.
    let whole = Array(
      "+OK\r\n:-3\r\n$-1\r\n*4\r\n$3\r\na\r\n\r\n*-1\r\n*3\r\n:1\r\n*0\r\n+b\r\n$0\r\n\r\n-ERR no\r\n$19\r\n\(Int64.max)\r\n*0\r\n".utf8)
    for size in 1...whole.count {
      let reader = try #require(ReplyReader(maxElements: 100))
      var replies: [String] = []
      for start in stride(from: 0, to: whole.count, by: size) {
        try whole[start..<min(start + size, whole.count)].withUnsafeBytes { try reader.feed($0) }
        while let reply = try reader.next() { replies.append(described(reply)) }
      }
      #expect(replies == expected)
    }
  }

  private func described(_ reply: RedisReply) -> String {
    if let error = reply.error { return "error \(error)" }
    if let elements = reply.array { return "[\(elements.map(described).joined(separator: ", "))]" }
    if let text = reply.string {
      #expect(reply.bytes == Array(text.utf8))
      for known in [text, text + "x", String(text.dropLast()), String(text.reversed()), ""] { #expect(reply.string(like: known) == text) }
      #expect(reply.singleByte == (text.utf8.count == 1 ? text.utf8.first : nil))
      return "'\(text)'"
    }
    #expect(reply.string(like: "") == nil)
    return reply.isNull ? "null" : String(reply.integer ?? 0)
  }

  @Test func `A known text is not allocated again`() throws {
    let reader = try #require(ReplyReader(maxElements: 1))
    let known = "a text of more than fifteen bytes"
    try Array("$\(known.utf8.count)\r\n\(known)\r\n".utf8).withUnsafeBytes { try reader.feed($0) }
    let reply = try #require(try reader.next())
    func place(_ text: String?) -> UnsafePointer<UInt8>? { text?.utf8.withContiguousStorageIfAvailable { $0.baseAddress } ?? nil }
    #expect(place(reply.string(like: known)) == place(known))
    #expect(place(reply.string) != place(known))
    #expect(reply.string(like: "another text that is just as long") == known)
  }

  @Test(arguments: [
    ("0", 0), ("-1", -1), ("9223372036854775807", Int64.max), ("-9223372036854775808", Int64.min), ("9223372036854775808", nil),
    ("-9223372036854775809", nil), ("", nil), ("-", nil), ("1x", nil), (" 1", nil), ("99999999999999999999", nil),
  ])
  func `A text is parsed as a number if it is one`(_ text: String, _ expected: Int64?) throws {
    let reader = try #require(ReplyReader(maxElements: 1))
    try Array("$\(text.utf8.count)\r\n\(text)\r\n".utf8).withUnsafeBytes { try reader.feed($0) }
    #expect(try #require(try reader.next()).integer == expected)
  }

  @Test func `A reply with too many elements and an invalid reply are errors`() throws {
    let reader = try #require(ReplyReader(maxElements: 3))
    #expect(throws: RedisError.self) {
      try Array("*3\r\n:1\r\n:2\r\n:3\r\n".utf8).withUnsafeBytes { try reader.feed($0) }
      _ = try reader.next()
    }
    let other = try #require(ReplyReader(maxElements: 3))
    #expect(throws: RedisError.self) {
      try Array("nonsense\r\n".utf8).withUnsafeBytes { try other.feed($0) }
      _ = try other.next()
    }
  }
}
