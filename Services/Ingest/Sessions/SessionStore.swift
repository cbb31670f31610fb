import AppleAttribution
import RedisClient

/// What Redis stores for sessions beside the queue: the ATT status of each install, the order of its held sessions, and whole payloads,
/// which the messages in the queue do not contain. ``SessionKeys`` has the keys.
struct SessionStore: Sendable {
  /// The time for which an install's status is stored after its last update, seconds: 400 days.
  static let installSeconds = 400 * 86_400
  /// The time for which the order of held sessions is stored after the last one, seconds.
  static let heldSeconds = 86_400
  /// The time for which the time of a session's first receipt is stored, seconds: as long as SDKs repeat a session.
  static let firstSeenSeconds = 7 * 86_400

  /// The time for which a payload is stored after the session was sent, seconds. It is needed if the process ends before the commit.
  static let sentPayloadSeconds = 300

  private static let triesScript = RedisScript(name: "session_tries_add", source: PackageResources.session_tries_add_lua)

  let redis: RedisClient
  /// A client whose writes return when they are as durable as `queues.durability` requires; the same as `redis` if that needs no waiting.
  let durable: RedisClient
  /// The time for which a payload is stored for sending, seconds.
  let payloadSeconds: Int

  /// The state of an install; a new one if none is stored.
  func install(_ installHash: String) async throws -> ATTInstall {
    try await read(installHash).value
  }

  /// True if a state of the install is stored.
  func knows(_ installHash: String) async throws -> Bool {
    try await redis.send(["EXISTS", .string(SessionKeys(installHash: installHash).install)]).integer == 1
  }

  /// Changes the state of an install by a rule, atomically, and announces changes of its ATT status.
  ///
  /// A change is announced after it is written, so that only changes that apply are announced. Until it is announced, it is stored as part
  /// of the state (``ATTInstall/unpublishedChange``). If announcing fails, this function throws, so that the sender repeats the request,
  /// and the next request of the install announces the change first. If that fails too, the new state is written only if it withdraws
  /// consent.
  ///
  /// - Parameters:
  ///   - announce: queues changes for the feed.
  ///   - whenWritten: runs after the state is written and before its change is announced.
  ///   - rule: computes the new state. It may run more than once, because another instance may change the state meanwhile.
  func update(
    installHash: String, announce: ([ATTStatusChange]) async throws -> Void, whenWritten: (ATTInstall.Reception) async -> Void = { _ in },
    _ rule: (inout ATTInstall) -> ATTInstall.Reception
  ) async throws -> ATTInstall.Reception {
    let keys = [SessionKeys(installHash: installHash).install]
    while true {
      let (stored, value) = try await read(installHash)
      var changed = value
      let reception = rule(&changed)
      // An unchanged state is nevertheless written if writes must be durable, because an earlier write of it may have failed to become
      // durable.
      if changed == value, !stored.isEmpty, durable === redis { return reception }
      // The rule has removed an unannounced change from the state, and returned it as the first of the changes.
      let earlier = changed.unpublishedChange == nil ? value.unpublishedChange : nil
      let new = reception.changes.dropFirst(earlier == nil ? 0 : 1).first
      var announceError: (any Error)?
      do {
        if let earlier { try await announce([earlier]) }
        if let new { changed.unpublishedChange = new }
      } catch {
        guard changed.keepUnpublished(reception.changes) else { throw error }
        announceError = error
      }
      let seconds = RedisArgument.integer(Int64(Self.installSeconds))
      let reply = try await RedisScript.compareAndSet.run(
        on: durable, keys: keys, arguments: [.bytes(stored), .string(changed.text), seconds])
      guard reply.integer == 1 else {
        try Task.checkCancellation()
        continue
      }
      await whenWritten(reception)
      if let announceError { throw announceError }
      guard let new else { return reception }
      try await announce([new])
      var announced = changed
      announced.unpublishedChange = nil
      // If this write fails, the next request announces the change again, which has no effect.
      _ = try? await RedisScript.compareAndSet.run(
        on: redis, keys: keys, arguments: [.string(changed.text), .string(announced.text), seconds])
      return reception
    }
  }

  /// The time at which a session with this digest was first received from the install, milliseconds since 1970; `now` if it is new.
  func firstSeen(installHash: String, digest: String, now: Int64) async throws -> Int64 {
    let key = SessionKeys(installHash: installHash).firstSeen(digest)
    let reply = try await redis.send([
      "SET", .string(key), .integer(now), "NX", "GET", "EX", .integer(Int64(Self.firstSeenSeconds)),
    ])
    return reply.string.flatMap { Int64($0) } ?? now
  }

  /// Stores the whole payload of a session.
  func addPayload(_ payload: [UInt8], installHash: String, digest: String) async throws {
    let key = SessionKeys(installHash: installHash).payload(digest)
    _ = try await redis.send(["SET", .string(key), .bytes(payload), "EX", .integer(Int64(payloadSeconds))])
  }

  /// The whole payload of a session; nil if it has expired. The session can then be sent only without the fields that need consent.
  func payload(installHash: String, digest: String) async throws -> [UInt8]? {
    try await redis.send(["GET", .string(SessionKeys(installHash: installHash).payload(digest))]).bytes
  }

  /// Lets the payload of a session expire soon, because it is not needed any more.
  func expirePayload(installHash: String, digest: String) async throws {
    let key = SessionKeys(installHash: installHash).payload(digest)
    _ = try await redis.send(["EXPIRE", .string(key), .integer(Int64(Self.sentPayloadSeconds)), "LT"])
  }

  /// Adds a delivery to the held ones.
  func hold(_ delivery: String, installHash: String, position: Int64) async throws {
    let key = SessionKeys(installHash: installHash).held
    _ = try await redis.send(["ZADD", .string(key), .integer(position), .string(delivery)])
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

  /// Removes a delivery from the held ones.
  func removeHeld(_ delivery: String, installHash: String) async throws {
    _ = try await redis.send(["ZREM", .string(SessionKeys(installHash: installHash).held), .string(delivery)])
  }

  /// Counts requests with a session that failed.
  ///
  /// - Parameter time: milliseconds since 1970.
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
    let reply = try await redis.send(["HGETALL", .string(SessionKeys(installHash: installHash).tries(delivery))]).array ?? []
    return SessionTries(
      stored: stride(from: 0, to: reply.count - 1, by: 2).map { (reply[$0].string ?? "", reply[$0 + 1].string ?? "") })
  }

  private func read(_ installHash: String) async throws -> (stored: [UInt8], value: ATTInstall) {
    let stored = try await redis.send(["GET", .string(SessionKeys(installHash: installHash).install)]).bytes ?? []
    return (stored, stored.isEmpty ? ATTInstall() : ATTInstall(stored: String(decoding: stored, as: UTF8.self)))
  }
}
