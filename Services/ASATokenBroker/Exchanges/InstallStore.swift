import AppleAttribution
import AttributionQueue
import RedisClient
import WireJSON

/// Stores the current attribution of each install, because an install may send several tokens and only one outcome counts
/// (``InstallAttribution``).
struct InstallStore: Sendable {
  let redis: RedisClient
  /// The time for which an attribution is stored after its last change.
  let lifetime: Duration

  /// Adds an attribution to its install, atomically among all instances. Adding the same attribution again, as after a crash, returns the
  /// same result.
  func join(
    _ attribution: InstallAttribution, bundleId: String, installId: String
  ) async throws -> InstallAttribution.JoinResult {
    let hash = SessionSubmission.installHash(bundleId: bundleId, installId: installId)
    let key = Keys.own("asa-token-broker", "install:\(hash)", shardOf: hash)
    let seconds = RedisArgument.integer(lifetime.wholeSeconds)
    // Most installs have only one token, for which this command is enough.
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

  /// Reads a stored attribution; nil if it is damaged, so that it is replaced.
  private static func attribution(_ bytes: [UInt8]) -> InstallAttribution? {
    guard let object = (try? JSONValue(parsing: bytes))?.objectValue, let eventId = object["eventId"]?.stringValue,
      let detail = object["detail"]?.stringValue.flatMap({ InstallAttribution.Detail(rawValue: $0) })
    else { return nil }
    return InstallAttribution(
      eventId: eventId, detail: detail, createdAt: object["createdAt"]?.int64Value ?? 0,
      supersedes: object["supersedes"]?.stringValue)
  }
}
