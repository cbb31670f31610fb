import AppStore
import AttributionQueue
import RedisClient
import WireJSON

/// Stores the histories of one-time purchases in Redis, with a value for each purchase
/// (``OneTimePurchaseHistory/purchaseId(_:)``), and for each further transaction of a purchase the id of the purchase.
struct OneTimePurchaseStore: Sendable {
  private static let secondsPerDay: Int64 = 86_400

  let redis: RedisClient

  /// The history of the purchase that has a transaction; nil if there is none.
  func history(environment: String, transactionId: String) async throws -> OneTimePurchaseHistory? {
    try await history(environment: environment, purchaseId: try await linked(environment, transactionId))
  }

  private func history(environment: String, purchaseId: String) async throws -> OneTimePurchaseHistory? {
    try Self.history(try await read(Self.key(environment, purchaseId)), purchaseId)
  }

  /// The id of the purchase that a transaction belongs to, as far as earlier steps tell it; otherwise the transaction's own id.
  private func linked(_ environment: String, _ transactionId: String) async throws -> String {
    let link = try await read(Self.linkKey(environment, transactionId))
    return link.isEmpty ? transactionId : String(decoding: link, as: UTF8.self)
  }

  /// The id of a transaction's purchase. If the transaction does not tell it (``OneTimePurchaseHistory/purchaseId(_:)``), what is stored
  /// does. Nil if the transaction does not name its type and no history shows that it is of a one-time purchase.
  func purchaseId(of transactionInfo: JSONObject, environment: String) async throws -> String? {
    if let named = OneTimePurchaseHistory.purchaseId(transactionInfo) { return named }
    guard let own = transactionInfo["transactionId"]?.stringValue else { return nil }
    let linked = try await linked(environment, own)
    if OneTimePurchaseHistory.namesType(transactionInfo) { return linked }
    for id in [linked, transactionInfo["originalTransactionId"]?.stringValue].compactMap({ $0 }) {
      if try await history(environment: environment, purchaseId: id) != nil { return id }
    }
    return nil
  }

  /// Adds a step to a purchase's history, and makes the history known under the step's transaction id. Both may be repeated, as after a
  /// crash between them.
  func insert(
    _ step: LifecycleStep, environment: String, purchaseId: String
  ) async throws -> (OneTimePurchaseHistory, SubscriptionHistory.Arrival) {
    var result = try await add(step, environment: environment, purchaseId: purchaseId)
    if let id = step.transaction?.transactionId, id != purchaseId, !result.0.steps.isEmpty {
      // Steps that came before, and did not name the original, are under the transaction's own id.
      for earlier in try await history(environment: environment, purchaseId: id)?.steps ?? [] {
        result.0 = try await add(earlier, environment: environment, purchaseId: purchaseId).0
      }
      let lifetime = OneTimePurchaseHistory.longestLifetimeDays(environment: environment) * Self.secondsPerDay
      _ = try await redis.send(["SET", .string(Self.linkKey(environment, id)), .string(purchaseId), "EX", .integer(lifetime)])
    }
    return result
  }

  /// Adds a step to a history, or to an empty one if there is none, atomically among all instances. An unchanged history is not written.
  private func add(
    _ step: LifecycleStep, environment: String, purchaseId: String
  ) async throws -> (OneTimePurchaseHistory, SubscriptionHistory.Arrival) {
    let key = Self.key(environment, purchaseId)
    func lifetime(_ history: OneTimePurchaseHistory) -> RedisArgument {
      .integer(history.lifetimeDays(environment: environment) * Self.secondsPerDay)
    }
    var bytes: [UInt8]
    var first = OneTimePurchaseHistory()
    let firstArrival = first.insert(step)
    // A step that cannot begin a history leaves it empty.
    if first.steps.isEmpty {
      bytes = try await read(key)
    } else {
      // Most purchases have one step, and need only this command, which returns the stored history if there is one.
      guard let stored = try await redis.send(["SET", .string(key), .bytes(first.stored), "NX", "GET", "EX", lifetime(first)]).bytes else {
        return (first, firstArrival)
      }
      bytes = stored
    }
    while true {
      let before = try Self.history(bytes, purchaseId) ?? OneTimePurchaseHistory()
      var history = before
      let arrival = history.insert(step)
      guard history != before else { return (history, arrival) }
      let reply = try await RedisScript.compareAndSet.run(
        on: redis, keys: [key], arguments: [.bytes(bytes), .bytes(history.stored), lifetime(history)])
      if reply.integer == 1 { return (history, arrival) }
      try Task.checkCancellation()
      bytes = try await read(key)
    }
  }

  /// The bytes of a stored history; empty if there is none.
  private func read(_ key: String) async throws -> [UInt8] { try await redis.send(["GET", .string(key)]).bytes ?? [] }

  /// Parses a stored history; nil for no bytes.
  private static func history(_ bytes: [UInt8], _ purchaseId: String) throws -> OneTimePurchaseHistory? {
    let history = OneTimePurchaseHistory(stored: bytes)
    // A value that cannot be parsed may have been written by a newer version, so it must not be overwritten.
    guard bytes.isEmpty || history != nil else { throw Unreadable(purchaseId: purchaseId) }
    return history
  }

  /// The error if the stored value of a purchase cannot be parsed.
  struct Unreadable: Error {
    let purchaseId: String
  }

  private static func key(_ environment: String, _ purchaseId: String) -> String {
    Keys.own("verifier", "purchase:\(environment):\(purchaseId)", shardOf: purchaseId)
  }

  /// The key of the id of the purchase that a further transaction belongs to.
  private static func linkKey(_ environment: String, _ transactionId: String) -> String {
    Keys.own("verifier", "purchase-of:\(environment):\(transactionId)", shardOf: transactionId)
  }
}
