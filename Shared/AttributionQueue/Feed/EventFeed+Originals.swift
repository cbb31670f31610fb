import Cryptography
import RedisClient

/// The bytes that Apple sent: they are kept with each event while somebody asks for them.
///
/// Each asking has a name of its own, which the subscription holds. Whoever is late with ending one cannot end another one, and who
/// stops before anybody holds it leaves only bytes that nobody needs, for an hour.
extension EventFeed {
  /// How long an asking that no subscription holds may be about to be held.
  private static let heldWithin: Int64 = 3_600_000

  /// Has original bytes kept from now on; answers the name of this asking. It lasts while a subscription has it as its push settings'
  /// `originals`.
  public func keepOriginals(for subscription: String) async throws(EventFeedError) -> String {
    let asking = "\(subscription) \(DeliveryQueue.now) \(Hex.encode(RandomBytes.make(8)))"
    _ = try await onAllShards { shard throws(EventFeedError) in
      _ = try await self.send(["SADD", .string(Keys.originals(shard)), .string(asking)])
    }
    return asking
  }

  /// Ends one asking.
  public func endKeeping(_ asking: String) async throws(EventFeedError) {
    _ = try await onAllShards { shard throws(EventFeedError) in
      _ = try await self.send(["SREM", .string(Keys.originals(shard)), .string(asking)])
    }
  }

  /// Puts back what is asked for and got lost, and ends what no subscription holds.
  func mendOriginals() async throws(EventFeedError) {
    let asked = Set(try await subscriptions().compactMap(\.originals))
    let oldest = DeliveryQueue.now - Self.heldWithin
    _ = try await onAllShards { shard throws(EventFeedError) in
      let key = RedisArgument.string(Keys.originals(shard))
      let kept = Set((try await self.send(["SMEMBERS", key]).array ?? []).compactMap(\.string))
      let ended = kept.subtracting(asked).filter { Self.madeAt($0) ?? 0 < oldest }
      if !ended.isEmpty { _ = try await self.send(["SREM", key] + ended.map { .string($0) }) }
      let lost = asked.subtracting(kept)
      if !lost.isEmpty { _ = try await self.send(["SADD", key] + lost.map { .string($0) }) }
    }
  }

  private static func madeAt(_ asking: String) -> Int64? {
    let words = asking.split(separator: " ")
    return words.count == 3 ? Int64(words[1]) : nil
  }
}
