import Cryptography
import RedisClient

/// The bytes that Apple sent, which are stored with each event while a subscription requests them.
///
/// Each request has its own name, which the subscription stores. A late removal therefore cannot remove a newer request. If a process
/// crashes before the subscription stores the name, unneeded bytes are stored for an hour.
extension EventFeed {
  /// How long a request may exist before a subscription stores its name.
  private static let unnamedLifetime: Int64 = 3_600_000

  /// Requests that original bytes are stored from now on, and returns the request's name. It lasts while a subscription has the name as
  /// `originals` in its push settings.
  public func keepOriginals(for subscription: String) async throws(EventFeedError) -> String {
    let request = "\(subscription) \(DeliveryQueue.now) \(Hex.encode(RandomBytes.make(8)))"
    _ = try await onAllShards { shard throws(EventFeedError) in
      _ = try await self.send(["SADD", .string(Keys.originals(shard)), .string(request)])
    }
    return request
  }

  /// Removes one request.
  public func endKeeping(_ request: String) async throws(EventFeedError) {
    _ = try await onAllShards { shard throws(EventFeedError) in
      _ = try await self.send(["SREM", .string(Keys.originals(shard)), .string(request)])
    }
  }

  /// Restores lost requests of subscriptions, and removes requests that no subscription stores.
  func repairOriginals() async throws(EventFeedError) {
    let asked = Set(try await subscriptions().compactMap(\.originals))
    let oldest = DeliveryQueue.now - Self.unnamedLifetime
    _ = try await onAllShards { shard throws(EventFeedError) in
      let key = RedisArgument.string(Keys.originals(shard))
      let kept = Set((try await self.send(["SMEMBERS", key]).array ?? []).compactMap(\.string))
      let ended = kept.subtracting(asked).filter { Self.madeAt($0) ?? 0 < oldest }
      if !ended.isEmpty { _ = try await self.send(["SREM", key] + ended.map { .string($0) }) }
      let lost = asked.subtracting(kept)
      if !lost.isEmpty { _ = try await self.send(["SADD", key] + lost.map { .string($0) }) }
    }
  }

  private static func madeAt(_ request: String) -> Int64? {
    let words = request.split(separator: " ")
    return words.count == 3 ? Int64(words[1]) : nil
  }
}
