import RedisClient

/// The form (schema version) of the data in Redis: how messages are written and how workers share them.
///
/// A build knows its own form and the one before, and works in the form that Redis names. During a rolling upgrade, builds with different
/// newest forms can therefore run at the same time. Afterwards an operator changes the form (``QueueAdministration/setForm(_:force:)``),
/// and every instance follows within seconds. A build refuses a Redis that names a newer form. Check ``DeliveryQueue/form`` before writing
/// data that builds of the older form cannot read:
///
///     if try await deliveries.form >= .owned { … }
public enum StoreForm: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// Workers lease each message from a consumer group of its stream.
  case leased = 1
  /// Workers own shards and read their streams by position. A notification enters its order line when it is verified.
  case owned = 2

  /// The form of an empty Redis.
  public static let newest = owned

  public static func < (one: StoreForm, other: StoreForm) -> Bool { one.rawValue < other.rawValue }

  /// - Parameter text: the stored value; nil means the first form, which older builds did not store.
  init(stored text: String?) throws(QueueError) {
    guard let text else {
      self = .leased
      return
    }
    guard let form = Int(text).flatMap(StoreForm.init) else { throw .unknownForm(text) }
    self = form
  }

  /// The age at which the cached form is read again.
  static let age: Duration = .seconds(1)
}

extension DeliveryQueue {
  /// The form that Redis names, cached for up to a second (two while another caller refreshes it). While the node that stores it is
  /// unavailable, the last known form is used. That is safe because each shard changes its form under a new epoch, so a step in the former
  /// form is refused. Throws ``QueueError/unknownForm(_:)`` if the form is newer than this build.
  public var form: StoreForm { get async throws(QueueError) { try await knownForm.value } }

  static func cachedForm(_ redis: RedisClient) -> CachedValue<StoreForm> {
    CachedValue(interval: StoreForm.age, maxAge: StoreForm.age * 2) { () throws(QueueError) in
      let reply: RedisReply
      do throws(RedisError) { reply = try await redis.send(["GET", .string(Keys.form)]) } catch { throw .unavailable(error) }
      return try StoreForm(stored: reply.string)
    }
  }
}
