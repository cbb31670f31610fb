import AppleAttribution
import AttributionQueue
import RedisClient
import WireJSON

/// Stores the current attribution of each install.
struct InstallStore: Sendable {
  let redis: RedisClient
  /// How long an attribution is kept after its last change.
  let life: Duration

  /// Adds an attribution to its install, atomically among all instances. A repetition after a crash returns the same result.
  func join(
    _ attribution: InstallAttribution, bundleId: String, installId: String
  ) async throws -> InstallAttribution.JoinResult {
    let hash = SessionSubmission.installHash(bundleId: bundleId, installId: installId)
    let key = Keys.own("asa-token-broker", "install:\(hash)", shardOf: hash)
    let seconds = RedisArgument.integer(life.wholeSeconds)
    // Most installs have one token, and need no more than this command.
    let first = try await redis.send(["SET", .string(key), .bytes(Self.value(attribution)), "NX", "GET", "EX", seconds])
    guard var found = first.bytes else { return .applied(attribution) }
    while true {
      let joined = InstallAttribution.joining(attribution, to: Self.attribution(found))
      guard case .applied(let current) = joined else { return joined }
      let reply = try await RedisScript.compareAndSet.run(
        on: redis, keys: [key], arguments: [.bytes(found), .bytes(Self.value(current)), seconds])
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

  /// Nil if the stored value is damaged; it is then replaced.
  private static func attribution(_ bytes: [UInt8]) -> InstallAttribution? {
    guard let object = (try? JSONValue(parsing: bytes))?.objectValue, let eventId = object["eventId"]?.stringValue,
      let detail = object["detail"]?.stringValue.flatMap({ InstallAttribution.Detail(rawValue: $0) })
    else { return nil }
    return InstallAttribution(
      eventId: eventId, detail: detail, createdAt: object["createdAt"]?.int64Value ?? 0,
      supersedes: object["supersedes"]?.stringValue)
  }
}
