import AppleAttribution
import AttributionQueue
import RedisClient
import WireJSON

/// Remembers which attribution of an install stands.
struct InstallStore: Sendable {
  let redis: RedisClient
  /// How long it is remembered after its last change.
  let life: Duration

  /// Joins an attribution to what is known of its install, in one step among all instances. Repeated after a crash it answers the same.
  func join(
    _ attribution: InstallAttribution, bundleId: String, installId: String
  ) async throws -> InstallAttribution.Joined {
    let hash = SessionSubmission.installHash(bundleId: bundleId, installId: installId)
    let key = Keys.own("asa-token-broker", "install:\(hash)", shardOf: hash)
    let seconds = RedisArgument.integer(life.wholeSeconds)
    // Most installs have one token: one step for those.
    let first = try await redis.send(["SET", .string(key), .bytes(Self.value(attribution)), "NX", "GET", "EX", seconds])
    guard var found = first.bytes else { return .stands(attribution) }
    while true {
      let joined = InstallAttribution.joining(attribution, to: Self.attribution(found))
      guard case .stands(let standing) = joined else { return joined }
      let reply = try await RedisScript.compareAndSet.run(
        on: redis, keys: [key], arguments: [.bytes(found), .bytes(Self.value(standing)), seconds])
      if reply.integer == 1 { return joined }
      try Task.checkCancellation()
      found = try await redis.send(["GET", .string(key)]).bytes ?? []
      if found.isEmpty { return try await join(attribution, bundleId: bundleId, installId: installId) }
    }
  }

  private static func value(_ attribution: InstallAttribution) -> [UInt8] {
    var object: JSONObject = [
      "eventId": .string(attribution.eventId), "detail": .string(attribution.detail.rawValue),
      "createdAt": .integer(attribution.createdAt),
    ]
    object["supersedes"] = attribution.supersedes.map { .string($0) }
    return JSONValue.object(object).serialized
  }

  /// Nil when what was stored is damaged: it gives way.
  private static func attribution(_ bytes: [UInt8]) -> InstallAttribution? {
    guard let object = (try? JSONValue(parsing: bytes))?.objectValue, let eventId = object["eventId"]?.stringValue,
      let detail = object["detail"]?.stringValue.flatMap({ AttributionRecord.Detail(rawValue: $0) })
    else { return nil }
    return InstallAttribution(
      eventId: eventId, detail: detail, createdAt: object["createdAt"]?.int64Value ?? 0,
      supersedes: object["supersedes"]?.stringValue)
  }
}
