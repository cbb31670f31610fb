import AppleAttribution
import AttributionQueue
import RedisClient
import WireJSON

/// Stores exchanges in Redis, in the shards of their deliveries, for as long as their outcomes can be read.
struct ExchangeStore: Sendable {
  private static let service = "asa-token-broker"

  let redis: RedisClient
  /// The time for which an exchange can be read after its last change.
  let lifetime: Duration

  /// The exchange of a delivery; nil if there is none, or if it has expired or is damaged.
  func exchange(_ id: DeliveryID) async throws -> Exchange? {
    guard let bytes = try await redis.send(["GET", .string(Keys.own(Self.service, Self.name(id.description), id.shard))]).bytes,
      let object = (try? JSONValue(parsing: bytes))?.objectValue
    else { return nil }
    return Exchange(json: object)
  }

  /// The exchange as a record that a step of the queue writes: an undecided exchange is written only while the token's lease lasts, a
  /// decided one in the commit that publishes its event.
  func record(_ exchange: Exchange) -> OwnRecord {
    OwnRecord(
      service: Self.service, name: Self.name(exchange.id), value: JSONValue.object(exchange.json).serialized, ttl: lifetime)
  }

  private static func name(_ id: String) -> String { "exchange:\(id)" }
}
