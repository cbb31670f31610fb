import RedisClient
import Testing

@testable import AttributionQueue

@Suite struct LeasedMessageTests {
  private let id = "003-\(String(repeating: "0", count: 32))"

  private func message(_ fields: [RedisArgument], kindBefore: String = "") throws -> LeasedMessage? {
    LeasedMessage(
      queue: .intake, entryID: "1-1", fields: try reply(fields), deliveryCount: 1, consumer: "c", kindBefore: kindBefore)
  }

  @Test(arguments: ["", "a kind", "b kind"])
  func `An entry is read by field names in any order, and unknown names are ignored`(_ before: String) throws {
    let message = try #require(
      try message(
        [
          "x", "1", "long name", "2", "a", #"{"r":1,"s":"public","t":"tp","q":"r","c":"d","new":[1],"a":{"b":"c"}}"#, "b",
          .bytes([1, 0, 255]),
          "k", "a kind", "i", .string(id), "n", "2", "h", "1 before\n2 just before\n", "r", "77", "o", "line", "without a value",
        ], kindBefore: before))
    #expect(message.attempt == 3 && message.lastError == "just before" && message.shard == Shard(3) && message.deliveryID.description == id)
    #expect(message.deadline == 77 && message.line == "line" && message.token == LeaseToken(entryID: "1-1", deliveryCount: 1))
    var expected = QueueMessage(
      kind: "a kind", body: [1, 0, 255], attributes: ["b": "c"], receivedAt: 1, source: "public", traceparent: "tp", requestId: "r")
    expected.claim = "d"
    #expect(message.message == expected)
  }

  @Test(arguments: ["i", "k", "b", "a"])
  func `An entry without a required field is no message`(_ missing: String) throws {
    let fields: [(String, RedisArgument)] = [("i", .string(id)), ("k", "kind"), ("b", "body"), ("a", #"{"r":1,"s":"public"}"#)]
    #expect(try message(fields.flatMap { [.string($0.0), $0.1] }) != nil)
    #expect(try message(fields.filter { $0.0 != missing }.flatMap { [.string($0.0), $0.1] }) == nil)
  }
}
