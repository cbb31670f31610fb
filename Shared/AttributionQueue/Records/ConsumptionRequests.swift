public import RedisClient

/// The newest `CONSUMPTION_REQUEST` of each transaction. Verifier writes it before it publishes the notification's event; without it,
/// notification-recovery sends no consumption information. Writing it twice has no effect, and an older one does not replace a newer one.
public struct ConsumptionRequests: Sendable {
  public struct Entry: Sendable, Hashable {
    /// The time at which Apple signed the notification, milliseconds since 1970.
    public let signedDate: Int64
    /// `type` of the transaction, for example `Auto-Renewable Subscription`.
    public let productType: String

    public init(signedDate: Int64, productType: String) {
      self.signedDate = signedDate
      self.productType = productType
    }
  }

  /// How long a request is stored after it was added, seconds: longer than the time for an answer, so that a late one gets the right error.
  private static let keptSeconds: Int64 = 30 * 86_400

  private let redis: RedisClient

  public init(redis: RedisClient) { self.redis = redis }

  private static func key(_ bundleId: String, _ environment: String, _ transactionId: String) -> String {
    Keys.own("recovery", "consumption-request:\(bundleId):\(environment):\(transactionId)", shardOf: transactionId)
  }

  public func add(
    _ entry: Entry, bundleId: String, environment: String, transactionId: String
  ) async throws(RedisError) {
    let key = Self.key(bundleId, environment, transactionId)
    try await redis.send(["ZADD", .string(key), "GT", .integer(entry.signedDate), .string(entry.productType)])
    try await redis.send(["EXPIRE", .string(key), .integer(Self.keptSeconds)])
  }

  /// The newest request for a transaction; nil if none was received in the last thirty days.
  public func newest(bundleId: String, environment: String, transactionId: String) async throws(RedisError) -> Entry? {
    let reply = try await redis.send([
      "ZREVRANGE", .string(Self.key(bundleId, environment, transactionId)), "0", "0", "WITHSCORES",
    ])
    let words = (reply.array ?? []).compactMap(\.string)
    guard words.count == 2, let date = Double(words[1]) else { return nil }
    return Entry(signedDate: Int64(date), productType: words[0])
  }
}

extension DeliveryQueue {
  /// The requests of Apple for consumption information.
  public var consumptionRequests: ConsumptionRequests { ConsumptionRequests(redis: redis) }
}
