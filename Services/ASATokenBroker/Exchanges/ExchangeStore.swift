import AppleAttribution
import AttributionQueue
import RedisClient
import WireJSON

/// Stores exchanges in Redis, in the shards of their deliveries, for as long as their outcomes can be read.
struct ExchangeStore: Sendable {
  private static let service = "asa-token-broker"
  /// The greatest number of later submissions that are stored for an exchange: the first ones, and of all others the ATT status if it is no
  /// consent.
  private static let maxAdditions: Int64 = 100

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

  /// Stores what a later submission of the token says. It is read before a decision, and with the exchange.
  ///
  /// - Parameter receivedAt: when it was received, milliseconds since 1970. The order of receipt counts.
  func add(_ claims: TokenClaims, to id: DeliveryID, receivedAt: Int64) async throws {
    let key = RedisArgument.string(Self.additionsKey(id))
    _ = try await redis.send(["ZADD", key, "NX", .integer(receivedAt), .bytes(Self.member(claims))])
    if let status = claims.attStatus, !status.isConsent {
      // The status alone, before all others, so that it stays whatever is added. There are only a few different ones.
      let known = status.isKnown ? status : .unavailable
      let alone = TokenClaims(bundleId: claims.bundleId, installId: nil, attStatus: known, createdAt: .max)
      _ = try await redis.send(["ZADD", key, "0", .bytes(Self.member(alone))])
    }
    _ = try await redis.send(["ZREMRANGEBYRANK", key, .integer(Self.maxAdditions), "-1"])
    _ = try await redis.send(["EXPIRE", key, .integer(lifetime.wholeSeconds)])
  }

  private static func member(_ claims: TokenClaims) -> [UInt8] {
    var object = JSONObject()
    for (name, value) in claims.attributes.sorted(by: { $0.key < $1.key }) { object[name] = .string(value) }
    return JSONValue.object(object).serialized
  }

  /// What later submissions of the token say, in the order of their receipt, after the statuses that are no consent.
  func additions(to id: DeliveryID) async throws -> [TokenClaims] {
    try await redis.send(["ZRANGE", .string(Self.additionsKey(id)), "0", .integer(Self.maxAdditions - 1)]).array?.compactMap {
      member -> TokenClaims? in
      guard let object = (try? JSONValue(parsing: member.bytes ?? []))?.objectValue else { return nil }
      return TokenClaims(attributes: Dictionary(object.members.map { ($0.key, $0.value.stringValue ?? "") }) { $1 })
    } ?? []
  }

  private static func additionsKey(_ id: DeliveryID) -> String { Keys.own(service, "additions:\(id.description)", id.shard) }
  private static func name(_ id: String) -> String { "exchange:\(id)" }
}
