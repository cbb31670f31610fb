import Cryptography
import RedisClient

/// Original bytes: what Apple sent, which commit.lua stores with each event while a subscription requests it.
///
/// Each request has its own name, which the subscription stores, so a late removal cannot remove a newer request. If a process crashes
/// after it made a request and before a subscription stores its name, bytes that nobody needs are stored for an hour.
extension EventFeed {
  /// How long a request may exist before a subscription stores its name, milliseconds.
  private static let unnamedLifetime: Int64 = 3_600_000

  /// Requests that original bytes are stored from now on, and returns the request's name. The request lasts while a subscription has the
  /// name as `originals` in its push settings.
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
    let requested = Set(try await subscriptions().compactMap(\.originals))
    let oldest = DeliveryQueue.now - Self.unnamedLifetime
    _ = try await onAllShards { shard throws(EventFeedError) in
      let key = RedisArgument.string(Keys.originals(shard))
      let stored = Set((try await self.send(["SMEMBERS", key]).array ?? []).compactMap(\.string))
      let ended = stored.subtracting(requested).filter { Self.requestTime($0) ?? 0 < oldest }
      if !ended.isEmpty { _ = try await self.send(["SREM", key] + ended.map { .string($0) }) }
      let lost = requested.subtracting(stored)
      if !lost.isEmpty { _ = try await self.send(["SADD", key] + lost.map { .string($0) }) }
    }
  }

  /// The time in a request's name, milliseconds since 1970.
  private static func requestTime(_ request: String) -> Int64? {
    let words = request.split(separator: " ")
    return words.count == 3 ? Int64(words[1]) : nil
  }
}
