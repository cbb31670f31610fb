import Testing

@testable import RedisClient

@Suite struct RedisReplyTests {
  private func read(_ text: String) throws -> RedisReply {
    let reader = try #require(ReplyReader(maxElements: 100))
    try Array(text.utf8).withUnsafeBytes { try reader.feed($0) }
    return try #require(try reader.next())
  }

  /// A description of the complete reply.
  private func description(_ reply: RedisReply) -> String {
    if let error = reply.error { return "-\(error)" }
    if let elements = reply.array { return "[" + elements.map(description).joined(separator: " ") + "]" }
    return reply.isNull ? "null" : reply.string.map { "'\($0)'" } ?? reply.integer.map { "\($0)" } ?? "nothing"
  }

  @Test func `A part of a reply has the same content when it is detached, at any position`() throws {
    let whole = try read(
      "*6\r\n$3\r\none\r\n*3\r\n$2\r\nab\r\n*2\r\n:-7\r\n$0\r\n\r\n$-1\r\n*0\r\n*2\r\n:1\r\n:2\r\n*1\r\n*2\r\n-ERR no\r\n$5\r\nlater\r\n:9\r\n"
    )
    #expect(description(whole) == "['one' ['ab' [-7 ''] null] [] [1 2] [[-ERR no 'later']] 9]")
    #expect(description(whole.detached) == description(whole))
    for part in try #require(whole.array) {
      #expect(description(part.detached) == description(part))
      for inner in part.elements { #expect(description(inner.detached) == description(inner)) }
    }
    #expect(RedisReply.null.detached.isNull)
  }

  @Test func `Elements are read by their type, and are skipped if they have another one`() throws {
    let reply = try read("*7\r\n$1\r\nx\r\n:5\r\n$2\r\n12\r\n*1\r\n$1\r\ny\r\n$3\r\nabc\r\n$-1\r\n$1\r\nz\r\n")
    var elements = reply.elements
    #expect(elements.nextSingleByte() == UInt8(ascii: "x") && elements.nextString() == nil && elements.nextInteger() == 12)
    #expect(elements.nextBytes() == nil && elements.nextString(like: "abc") == "abc" && elements.nextSingleByte() == nil)
    #expect(elements.underestimatedCount == 1)
    elements.skip()
    #expect(elements.nextString() == nil && elements.underestimatedCount == 0)
    var again = reply.elements
    #expect(again.nextBytes() == [UInt8(ascii: "x")] && again.nextInteger() == 5 && again.nextSingleByte() == nil)
  }

  @Test func `A reply of any length is complete, whatever reply came before it`() throws {
    let reader = try #require(ReplyReader(maxElements: 100))
    for length in [1, 700_000, 3, 0, 300_000, 300_001] {
      let text = "*2\r\n$\(length)\r\n\(String(repeating: "b", count: length))\r\n:1\r\n:3\r\n$-1\r\n"
      try Array(text.utf8).withUnsafeBytes { try reader.feed($0) }
      #expect(try reader.next()?.array?.first?.bytes?.count == length)
      #expect(try reader.next()?.integer == 3)
      #expect(try reader.next()?.isNull == true)
    }
  }
}
