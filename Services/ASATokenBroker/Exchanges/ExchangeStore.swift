import AppleAttribution
import AttributionQueue
import RedisClient
import WireJSON

/// Stores exchanges in Redis, in the shards of their deliveries, for as long as their outcomes can be read.
struct ExchangeStore: Sendable {
  private static let service = "asa-token-broker"

  let redis: RedisClient
  /// How long an exchange can be read after its last change.
  let lifetime: Duration

  /// Nil if there is none, or it has expired.
  func exchange(_ id: DeliveryID) async throws -> Exchange? {
    guard let bytes = try await redis.send(["GET", .string(Keys.own(Self.service, Self.name(id.description), id.shard))]).bytes,
      let object = (try? JSONValue(parsing: bytes))?.objectValue
    else { return nil }
    return Exchange(json: object)
  }

  /// The record of an exchange. That of an undecided one is written while the token's lease is held; that of a decided one together with its
  /// event.
  func record(_ exchange: Exchange) -> OwnRecord {
    OwnRecord(
      service: Self.service, name: Self.name(exchange.id), value: JSONValue.object(exchange.json).serialized, life: lifetime)
  }

  private static func name(_ id: String) -> String { "exchange:\(id)" }
}
