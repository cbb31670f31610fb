public import RedisClient

/// The newest `CONSUMPTION_REQUEST` of each transaction. Verifier writes the request before it publishes the notification's event. Without
/// a request, notification-recovery sends no consumption information. Writing a request twice has no effect, and an older one does not
/// replace a newer one.
public struct ConsumptionRequests: Sendable {
  public struct Entry: Sendable, Hashable {
    /// The time at which Apple signed the notification, milliseconds since 1970.
    public let signedDate: Int64
    /// The `type` of the transaction, for example `Auto-Renewable Subscription`.
    public let productType: String

    public init(signedDate: Int64, productType: String) {
      self.signedDate = signedDate
      self.productType = productType
    }
  }

  /// How long a request is stored, seconds: longer than Apple accepts an answer, so that a late answer gets the right error.
  private static let expirySeconds: Int64 = 30 * 86_400

  private let redis: RedisClient

  public init(redis: RedisClient) { self.redis = redis }

  private static func key(_ bundleId: String, _ environment: String, _ transactionId: String) -> String {
    Keys.own("recovery", "consumption-request:\(bundleId):\(environment):\(transactionId)", shardOf: transactionId)
  }

  /// Stores a request, unless a newer one is stored.
  public func add(
    _ entry: Entry, bundleId: String, environment: String, transactionId: String
  ) async throws(RedisError) {
    let key = Self.key(bundleId, environment, transactionId)
    while true {
      let read = try await redis.send(["GET", .string(key)]).bytes ?? []
      if let known = Entry(stored: read), known.signedDate >= entry.signedDate { return }
      let reply = try await RedisScript.compareAndSet.run(
        on: redis, keys: [key], arguments: [.bytes(read), .string(entry.stored), .integer(Self.expirySeconds)])
      if reply.integer == 1 { return }
    }
  }

  /// The newest request for a transaction; nil if none was received in the last thirty days.
  public func newest(bundleId: String, environment: String, transactionId: String) async throws(RedisError) -> Entry? {
    Entry(stored: try await redis.send(["GET", .string(Self.key(bundleId, environment, transactionId))]).bytes ?? [])
  }
}

extension ConsumptionRequests.Entry {
  fileprivate var stored: String { "\(signedDate) \(productType)" }

  /// Returns nil if the bytes are empty or damaged. A damaged request is replaced by the next one.
  fileprivate init?(stored bytes: [UInt8]) {
    let parts = String(decoding: bytes, as: UTF8.self).split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2, let date = Int64(parts[0]) else { return nil }
    self.init(signedDate: date, productType: String(parts[1]))
  }
}

extension DeliveryQueue {
  /// Apple's requests for consumption information.
  public var consumptionRequests: ConsumptionRequests { ConsumptionRequests(redis: redis) }
}
