import AppStore
import AttributionQueue
import RedisClient

/// The histories of one-time purchases in Redis, one value for each transaction id.
struct OneTimePurchaseStore: Sendable {
  private static let compareAndSet = RedisScript(
    name: "one-time-purchase-compare-and-set", source: PackageResources.one_time_purchase_compare_and_set_lua)
  private static let secondsPerDay: Int64 = 86_400

  let redis: RedisClient

  /// The history of a purchase; nil if there is none.
  func history(environment: String, transactionId: String) async throws -> OneTimePurchaseHistory? {
    try await read(environment, transactionId).history
  }

  /// Adds a step to a history, or to an empty one if there is none, atomically among all instances. An unchanged history is not written.
  func insert(
    _ step: LifecycleStep, environment: String, transactionId: String
  ) async throws -> (OneTimePurchaseHistory, SubscriptionHistory.Arrival) {
    while true {
      let (bytes, known) = try await read(environment, transactionId)
      let before = known ?? OneTimePurchaseHistory()
      var history = before
      let arrival = history.insert(step)
      guard history != before else { return (history, arrival) }
      let seconds = history.lifetimeDays(environment: environment) * Self.secondsPerDay
      let reply = try await Self.compareAndSet.run(
        on: redis, keys: [Self.key(environment, transactionId)],
        arguments: [.bytes(bytes), .bytes(history.stored), .integer(seconds)])
      if reply.integer == 1 { return (history, arrival) }
      try Task.checkCancellation()
    }
  }

  private func read(_ environment: String, _ transactionId: String) async throws -> (bytes: [UInt8], history: OneTimePurchaseHistory?) {
    let bytes = try await redis.send(["GET", .string(Self.key(environment, transactionId))]).bytes ?? []
    let history = OneTimePurchaseHistory(stored: bytes)
    // Not overwritten, because a value that cannot be parsed may be of a newer version.
    guard bytes.isEmpty || history != nil else { throw Unreadable(transactionId: transactionId) }
    return (bytes, history)
  }

  /// The stored value of a purchase is not a history.
  struct Unreadable: Error {
    let transactionId: String
  }

  private static func key(_ environment: String, _ transactionId: String) -> String {
    Keys.own("verifier", "purchase:\(environment):\(transactionId)", shardOf: transactionId)
  }
}
