import Testing

@testable import AttributionQueue

@Suite struct OriginalBodyTests {
  private func attributes(_ sent: String, _ body: String, type: String? = "application/json") -> [String: String] {
    OriginalBody.attributes(of: Array(sent.utf8), valueOf: "signedPayload", body: Array(body.utf8), contentType: type)
  }

  @Test func `The bytes around a body are stored, or all bytes if they do not contain the body literally`() {
    #expect(attributes(#"{"signedPayload":"a.b"}"#, "a.b") == ["bodyBefore": #"{"signedPayload":""#, "bodyAfter": #""}"#])
    #expect(
      attributes(#"{"x":["a.b"], "signedPayload" : "a.b" , "y":1} "#, "a.b", type: "text/json") == [
        "bodyBefore": #"{"x":["a.b"], "signedPayload" : ""#, "bodyAfter": #"" , "y":1} "#, "contentType": "text/json",
      ])
    #expect(attributes(#"{"signedPayload":"a\/b"}"#, "a/b", type: nil) == ["bodyWhole": #"{"signedPayload":"a\/b"}"#, "contentType": ""])
    #expect(attributes(#"{"signedPayload":1}"#, "1") == ["bodyWhole": #"{"signedPayload":1}"#])
  }

  /// A comparison at every position would take hours.
  @Test(.timeLimit(.minutes(1))) func `A body that resembles the bytes before it is found in one pass`() {
    let length = 128 << 10
    let before = #"{"x":""# + String(repeating: "A", count: length) + #"","signedPayload":""#
    let body = String(repeating: "A", count: length) + "B"
    #expect(attributes(before + body + #""}"#, body) == ["bodyBefore": before, "bodyAfter": #""}"#])
  }

  @Test(arguments: [
    ("test", [:], "natural/"), ("notification", [:], nil), ("notification", ["bodyBefore": "(", "bodyAfter": ")"], "(natural/)"),
    ("notification", ["bodyWhole": "all"], "all"),
  ])
  func `A notification from an older build without these attributes has no original bytes`(
    kind: String, told: [String: String], expected: String?
  ) async throws {
    try await withQueue { queue, _ in
      let feed = EventFeed(deliveries: queue)
      _ = try await feed.keepOriginals(for: "s")
      var accepted = request("natural")
      accepted.message = QueueMessage(
        kind: kind, body: accepted.message.body, attributes: accepted.message.attributes.merging(told) { one, _ in one },
        receivedAt: accepted.message.receivedAt, source: "public")
      let shard = try await queue.accept(accepted).id.shard
      let lease = try #require(try await queue.leaseAll("a").first)
      var completion = verified("natural")
      completion.keepsOriginal = true
      #expect(try await queue.complete([(lease, completion)]) == [.completed])
      let event = try #require(try await feed.read(shard, after: .beginning, limit: 1).first)
      #expect(event.original.map { String(decoding: $0.body, as: UTF8.self) } == expected)
    }
  }
}
