import RedisClient

/// The form of what lies in Redis: how messages are written, and how workers share them.
///
/// A build knows its own form and the one before. It works in the form that Redis names, so that builds of two forms can run beside each
/// other while instances are replaced one by one; when all are replaced, an operator says so (``QueueAdministration/setForm(_:force:)``)
/// and every instance takes the newer form within seconds. A Redis that names a newer form is refused. Ask ``DeliveryQueue/form``
/// before writing what builds of the older form cannot read:
///
///     if try await deliveries.form >= .owned { … }
public enum StoreForm: Int, Sendable, Hashable, Comparable, CaseIterable {
  /// Workers lease each message from a consumer group of its stream.
  case leased = 1
  /// Workers own shards and read their streams by position; a notification takes its place in its line when it is proved.
  case owned = 2

  /// What an empty Redis begins with.
  public static let newest = owned

  public static func < (one: StoreForm, other: StoreForm) -> Bool { one.rawValue < other.rawValue }

  /// - Parameter text: what Redis has; nothing where no build has written a form: these wrote the first.
  init(stored text: String?) throws(QueueError) {
    guard let text else {
      self = .leased
      return
    }
    guard let form = Int(text).flatMap(StoreForm.init) else { throw .unknownForm(text) }
    self = form
  }

  /// How old what an instance knows of the form may be.
  static let age: Duration = .seconds(1)
}

extension DeliveryQueue {
  /// The form that Redis names, as it was a second ago at the most (two while another caller asks). While the node that has it is away, the
  /// form that was read last counts: each shard changes form under a new epoch, so that a step in a former form is refused. Throws
  /// ``QueueError/unknownForm(_:)`` when it is newer than this build.
  public var form: StoreForm { get async throws(QueueError) { try await knownForm.value } }

  static func formLook(_ redis: RedisClient) -> CachedAnswer<StoreForm> {
    CachedAnswer(interval: StoreForm.age, longest: StoreForm.age * 2) { () throws(QueueError) in
      let reply: RedisReply
      do throws(RedisError) { reply = try await redis.send(["GET", .string(Keys.form)]) } catch { throw .unavailable(error) }
      return try StoreForm(stored: reply.string)
    }
  }
}
