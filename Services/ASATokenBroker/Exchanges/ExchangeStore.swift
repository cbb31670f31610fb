import AppleAttribution
import AttributionQueue
import RedisClient
import WireJSON

/// Keeps exchanges in Redis for as long as their outcome can be read.
struct ExchangeStore: Sendable {
  /// How long the last attribution of an install is remembered, seconds: 90 days.
  static let installSeconds = 90 * 86_400

  let redis: RedisClient
  /// How long an exchange can be read after its last change, seconds.
  let exchangeSeconds: Int

  /// Nil when there is none, or not any more.
  func exchange(_ id: String) async throws -> Exchange? {
    guard let bytes = try await redis.send(["GET", .string(Self.key(id))]).bytes,
      let object = (try? JSONValue(parsing: bytes))?.objectValue
    else { return nil }
    return Exchange(json: object)
  }

  func save(_ exchange: Exchange) async throws {
    let text = JSONValue.object(exchange.json).serializedString
    _ = try await redis.send([
      "SET", .string(Self.key(exchange.id)), .string(text), "EX", .integer(Int64(exchangeSeconds)),
    ])
  }

  /// The event and detail of the last attribution of an install.
  func lastAttribution(bundleId: String, installId: String) async throws -> (eventId: String, detail: String)? {
    guard
      let text = try await redis.send(["GET", .string(Self.installKey(bundleId: bundleId, installId: installId))])
        .string,
      let object = (try? JSONValue(parsing: text))?.objectValue, let eventId = object["eventId"]?.stringValue
    else { return nil }
    return (eventId, object["detail"]?.stringValue ?? "")
  }

  func saveLastAttribution(bundleId: String, installId: String, eventId: String, detail: String) async throws {
    let text = JSONValue.object(["eventId": .string(eventId), "detail": .string(detail)]).serializedString
    _ = try await redis.send([
      "SET", .string(Self.installKey(bundleId: bundleId, installId: installId)), .string(text), "EX",
      .integer(Int64(Self.installSeconds)),
    ])
  }

  private static func key(_ id: String) -> String { Keys.own("asa-token-broker", "exchange:\(id)", shardOf: id) }

  private static func installKey(bundleId: String, installId: String) -> String {
    let hash = SessionSubmission.installHash(bundleId: bundleId, installId: installId)
    return Keys.own("asa-token-broker", "install:\(hash)", shardOf: hash)
  }
}
