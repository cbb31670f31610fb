import RedisClient
import Testing

@testable import AttributionQueue

/// A shard with accepted messages that a worker owns.
struct OwnedMessages {
  let shard: Shard
  let ownership: ShardOwnership
  let messages: [LeasedMessage]

  /// - Parameter copies: distinguishes the messages of one call from those of others.
  init(_ queue: DeliveryQueue, _ naturals: [String], copies: String = "") async throws {
    var shard = Shard(0)
    for (place, natural) in naturals.enumerated() {
      shard = try await queue.accept(request(natural, copy: "\(copies)\(place)", order: "one")).id.shard
    }
    self.shard = shard
    guard case .own(let own, _) = try await ShardOwnership(text: "").take(.intake, shard, for: "one", isAbandoned: false, queue) else {
      throw QueueError.leaseLost
    }
    ownership = own
    messages = try await queue.send(["XRANGE", .string(Keys.ready(.intake, shard)), "-", "+"]).elements.map { entry in
      var parts = entry.elements
      let id = parts.nextString() ?? ""
      return try #require(
        LeasedMessage(queue: .intake, entryID: id, fields: parts.next() ?? .null, deliveryCount: 1, consumer: ""))
    }
  }

  /// Completes messages, by default as verified under their natural keys.
  func batch(_ queue: DeliveryQueue, _ places: Range<Int>, _ complete: (Int, String) -> Completion = { verified($1) }) -> CommitBatch {
    var call = CommitBatch(.intake, shard, expectedCount: places.count, queue)
    for place in places {
      call.complete(
        messages[place], complete(place, messages[place].message.attributes["natural"] ?? ""), now: DeliveryQueue.now)
    }
    return call
  }
}
