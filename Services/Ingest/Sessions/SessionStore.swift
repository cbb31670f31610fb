import AppleAttribution
import RedisClient

/// The state of session routing in Redis: the status of each install, the order of held sessions, and whole payloads, which are not in the
/// queue.
struct SessionStore: Sendable {
  /// How long an install's status is kept after its last update, seconds: 400 days.
  static let installSeconds = 400 * 86_400
  /// How long the order of held sessions is kept, seconds.
  static let heldSeconds = 86_400
  /// How long the time of a session's first receipt is kept, seconds: as long as SDKs repeat a session.
  static let firstSeenSeconds = 7 * 86_400

  /// How long a payload is kept after it was sent, seconds.
  static let sentPayloadSeconds = 300

  private static let triesScript = RedisScript(name: "session_tries_add", source: PackageResources.session_tries_add_lua)

  let redis: RedisClient
  /// A client whose writes return when they are as durable as the queues'.
  let durable: RedisClient
  /// How long a payload is kept for sending, seconds.
  let payloadSeconds: Int

  /// The state of an install; a new value if there is none.
  func install(_ installHash: String) async throws -> ATTInstall {
    try await read(installHash).value
  }

  /// True if there is a state of the install.
  func knows(_ installHash: String) async throws -> Bool {
    try await redis.send(["EXISTS", .string(SessionKeys(installHash: installHash).install)]).integer == 1
  }

  /// Changes the state of an install by a rule, atomically. The rule may run more than once. `whenWritten` runs after the state is written
  /// and before the change is announced.
  ///
  /// A change is announced after it is written, so that only changes that apply are announced. Until then it is stored with the state: if
  /// announcing fails, the error is thrown, so that the sender repeats the request, and the next receipt announces the change first. If
  /// that fails again, only a withdrawn consent is written.
  func update(
    installHash: String, announce: ([ATTStatusChange]) async throws -> Void, whenWritten: (ATTInstall.Reception) async -> Void = { _ in },
    _ rule: (inout ATTInstall) -> ATTInstall.Reception
  ) async throws -> ATTInstall.Reception {
    let keys = [SessionKeys(installHash: installHash).install]
    while true {
      let (stored, value) = try await read(installHash)
      var changed = value
      let reception = rule(&changed)
      // An unchanged value is written again if durability is required, because this may be a repeat of a change that was not confirmed.
      if changed == value, !stored.isEmpty, durable === redis { return reception }
      // If the state has a change that was not announced, the rule removes it from the state and returns it before the new changes.
      let earlier = changed.unpublishedChange == nil ? value.unpublishedChange : nil
      let new = reception.changes.dropFirst(earlier == nil ? 0 : 1).first
      var obstacle: (any Error)?
      do {
        if let earlier { try await announce([earlier]) }
        if let new { changed.unpublishedChange = new }
      } catch {
        guard changed.keepUnpublished(reception.changes) else { throw error }
        obstacle = error
      }
      let seconds = RedisArgument.integer(Int64(Self.installSeconds))
      let reply = try await RedisScript.compareAndSet.run(
        on: durable, keys: keys, arguments: [.bytes(stored), .string(changed.text), seconds])
      guard reply.integer == 1 else {
        try Task.checkCancellation()
        continue
      }
      await whenWritten(reception)
      if let obstacle { throw obstacle }
      guard let new else { return reception }
      try await announce([new])
      var announced = changed
      announced.unpublishedChange = nil
      // If this fails, the next receipt announces the change again, which has no effect.
      _ = try? await RedisScript.compareAndSet.run(
        on: redis, keys: keys, arguments: [.string(changed.text), .string(announced.text), seconds])
      return reception
    }
  }

  /// The time at which these bytes were first received from the install, milliseconds since 1970; `now` if they are new.
  func firstSeen(installHash: String, digest: String, now: Int64) async throws -> Int64 {
    let key = SessionKeys(installHash: installHash).firstSeen(digest)
    let reply = try await redis.send([
      "SET", .string(key), .integer(now), "NX", "GET", "EX", .integer(Int64(Self.firstSeenSeconds)),
    ])
    return reply.string.flatMap { Int64($0) } ?? now
  }

  func keepPayload(_ payload: [UInt8], installHash: String, digest: String) async throws {
    let key = SessionKeys(installHash: installHash).payload(digest)
    _ = try await redis.send(["SET", .string(key), .bytes(payload), "EX", .integer(Int64(payloadSeconds))])
  }

  /// Nil if it has expired; then there is nothing that consent could allow.
  func payload(installHash: String, digest: String) async throws -> [UInt8]? {
    try await redis.send(["GET", .string(SessionKeys(installHash: installHash).payload(digest))]).bytes
  }

  func expirePayload(installHash: String, digest: String) async throws {
    let key = SessionKeys(installHash: installHash).payload(digest)
    _ = try await redis.send(["EXPIRE", .string(key), .integer(Int64(Self.sentPayloadSeconds)), "LT"])
  }

  func hold(_ delivery: String, installHash: String, place: Int64) async throws {
    let key = SessionKeys(installHash: installHash).held
    _ = try await redis.send(["ZADD", .string(key), .integer(place), .string(delivery)])
    _ = try await redis.send(["EXPIRE", .string(key), .integer(Int64(Self.heldSeconds))])
  }

  /// The held deliveries in order.
  func held(installHash: String) async throws -> [String] {
    try await redis.send(["ZRANGE", .string(SessionKeys(installHash: installHash).held), "0", "-1"]).array?.compactMap(
      \.string) ?? []
  }

  /// The number of held deliveries before one; 0 if it is not held.
  func heldBefore(_ delivery: String, installHash: String) async throws -> Int {
    let key = SessionKeys(installHash: installHash).held
    return Int(try await redis.send(["ZRANK", .string(key), .string(delivery)]).integer ?? 0)
  }

  /// The first held delivery.
  func firstHeld(installHash: String) async throws -> String? {
    try await redis.send(["ZRANGE", .string(SessionKeys(installHash: installHash).held), "0", "0"]).array?.first?.string
  }

  func dropHeld(_ delivery: String, installHash: String) async throws {
    _ = try await redis.send(["ZREM", .string(SessionKeys(installHash: installHash).held), .string(delivery)])
  }

  /// Counts requests with a session that failed at this time, milliseconds since 1970.
  func addTries(_ failures: [SessionForwarder.Failure], _ status: ATTStatus, of delivery: String, installHash: String, at time: Int64)
    async throws
  {
    var arguments: [RedisArgument] = [.integer(Int64(payloadSeconds)), .integer(time)]
    for failure in failures {
      arguments += [.string(SessionTries.Target(status: status, host: failure.host).field), .string(failure.result)]
    }
    _ = try await Self.triesScript.run(on: redis, keys: [SessionKeys(installHash: installHash).tries(delivery)], arguments: arguments)
  }

  func tries(of delivery: String, installHash: String) async throws -> SessionTries {
    let words = try await redis.send(["HGETALL", .string(SessionKeys(installHash: installHash).tries(delivery))]).array ?? []
    return SessionTries(
      stored: stride(from: 0, to: words.count - 1, by: 2).map { (words[$0].string ?? "", words[$0 + 1].string ?? "") })
  }

  private func read(_ installHash: String) async throws -> (stored: [UInt8], value: ATTInstall) {
    let stored = try await redis.send(["GET", .string(SessionKeys(installHash: installHash).install)]).bytes ?? []
    return (stored, stored.isEmpty ? ATTInstall() : ATTInstall(stored: String(decoding: stored, as: UTF8.self)))
  }
}
