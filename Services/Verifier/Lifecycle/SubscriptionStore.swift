import AppStore
import AttributionQueue
import Cryptography
import RedisClient

/// The histories of subscriptions, one value each in Redis.
struct SubscriptionStore: Sendable {
  /// How long a history is kept after its last step, seconds: 400 days, longer than any period and Apple's own memory.
  static let lifetimeSeconds: Int64 = 400 * 86_400

  /// Writes a value if the one that was read still stands.
  /// KEYS 1 the history. ARGV 1 the value read, empty for none  2 the new value  3 seconds to live. Answers 1 when written.
  private static let compareAndSet: RedisScript = {
    let source = """
      local current = redis.call('GET', KEYS[1]) or ''
      if current ~= ARGV[1] then return 0 end
      redis.call('SET', KEYS[1], ARGV[2], 'EX', ARGV[3])
      return 1
      """
    return RedisScript(
      name: "subscription-compare-and-set", source: source, sha1: Hex.encode(SHA1Digest.hash(Array(source.utf8))))
  }()

  let redis: RedisClient

  /// What is known of a subscription; nil for one that was never heard of.
  func history(environment: String, originalTransactionId: String) async throws -> SubscriptionHistory? {
    try await read(environment, originalTransactionId).history
  }

  /// Puts a step into its subscription's history, atomically among all instances.
  ///
  /// A step that is there already changes nothing: whoever repeats it after a crash gets the same history.
  func insert(_ step: LifecycleStep, environment: String, originalTransactionId: String) async throws -> (
    SubscriptionHistory, SubscriptionHistory.Arrival
  ) {
    while true {
      let (bytes, known) = try await read(environment, originalTransactionId)
      var history = known ?? SubscriptionHistory(environment: environment, originalTransactionId: originalTransactionId)
      let arrival = history.insert(step)
      if case .duplicate = arrival { return (history, arrival) }
      let reply = try await Self.compareAndSet.run(
        on: redis, keys: [Self.key(environment, originalTransactionId)],
        arguments: [.bytes(bytes), .bytes(history.stored), .integer(Self.lifetimeSeconds)])
      if reply.integer == 1 { return (history, arrival) }
      try Task.checkCancellation()
    }
  }

  private func read(_ environment: String, _ originalTransactionId: String) async throws -> (
    bytes: [UInt8], history: SubscriptionHistory?
  ) {
    let bytes = try await redis.send(["GET", .string(Self.key(environment, originalTransactionId))]).bytes ?? []
    let history = SubscriptionHistory(stored: bytes)
    // Never written over: what cannot be read may be of a newer version of this program.
    guard bytes.isEmpty || history != nil else { throw Unreadable(originalTransactionId: originalTransactionId) }
    return (bytes, history)
  }

  /// What is kept of a subscription is not a history.
  struct Unreadable: Error {
    let originalTransactionId: String
  }

  private static func key(_ environment: String, _ originalTransactionId: String) -> String {
    Keys.own("verifier", "subscription:\(environment):\(originalTransactionId)", shardOf: originalTransactionId)
  }
}
