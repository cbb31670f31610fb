import AppleAttribution
import AttributionProtocol
import AttributionQueue
import Cryptography
import Logging
import RedisClient
import ServiceRuntime
import WireJSON

/// Takes in SDK sessions and ATT statuses.
///
/// What needs consent is parted from a session here, before anything is stored: the message in the queue, and so any
/// dead letter, holds the session without it. Only where there is consent, or the user is still being asked, is the
/// whole payload kept beside it, for as long as sending takes.
struct SessionIntake: Sendable {
  /// What sessions that wait may take up of the backlog's bound.
  private static let heldShare = 0.9
  /// What may be taken up when a change of a status comes: sessions that fill the queue do not keep a user's answer out.
  private static let changeShare: Double = 2
  /// Held sessions made ready in one step.
  private static let released = 200

  let deliveries: DeliveryQueue
  let store: SessionStore
  let routing: SessionRouting
  /// The longest that a session waits for the user's answer, milliseconds.
  let maximumWait: Int64
  let metrics: IngestMetrics
  let logger: Logger

  func receive(_ request: PublicRequest) async -> PublicHTTPResponse {
    let session: SessionSubmission
    let strategy: String
    do {
      session = try SessionSubmission(try request.object())
      strategy = try routing.strategy(for: session)
    } catch {
      return .failure(.invalidArgument(field: error.field, error.reason))
    }
    let hash = session.installHash
    let digest = Hex.encode(SHA256Digest.hash(request.body))
    do {
      // A repeat tells of the time it was first sent at, or an old "authorized" would undo a later refusal.
      let firstSeen = try await store.firstSeen(installHash: hash, digest: digest, now: request.receivedAt)
      let announce = { (changes: [ATTStatusChange]) in
        try await self.announce(changes, bundleId: session.bundleId, hash: hash, request)
      }
      let reception = try await store.update(installHash: hash, announce: announce) { install in
        install.receive(session, now: firstSeen, maximumWait: maximumWait)
      }
      if !session.attStatus.isKnown && session.attStatus != .unavailable {
        metrics.unknownStatus()
      }
      // Before this one is taken in, which would leave before them.
      if reception.releasesHeld { await release(hash) }
      let (outcome, isHeld) = try await accept(
        session, request: request, strategy: strategy, digest: digest, decision: reception.decision)
      if case .duplicate(let id) = outcome, try await deliveries.delivery(id)?.state != .accepted {
        // Sent before: what was kept again for it just now is not needed.
        try await store.expirePayload(installHash: hash, digest: digest)
      }
      if isHeld, case .accepted(let id) = outcome, case .hold(_, let place) = reception.decision {
        metrics.held()
        try await store.hold(id.description, installHash: hash, place: place)
        // The answer may have come between the decision and this line; then nobody else releases this one.
        if try await !store.install(hash).isHolding { await release(hash) }
      }
      return .receipt(outcome, status: 202)
    } catch let error as QueueError {
      return .notTaken(error, status: 503)
    } catch let error as RedisError {
      return .notTaken(.unavailable(error), status: 503)
    } catch {
      return .failure(RPCError(.canceled, "the request was given up"), status: 503)
    }
  }

  /// `PUT /v1/sessions/{installId}/att-status`.
  ///
  /// Taken of the apps whose sessions are taken, and of every install of which one was: no withdrawal is refused for its app.
  func receiveStatus(_ request: PublicRequest, installId: String) async -> PublicHTTPResponse {
    let status: ATTStatus
    let deviceTime: Int64?
    let bundleId: String
    let hash: String
    let body: JSONObject
    do throws(FieldError) {
      body = try request.object()
      guard body["attStatus"] != nil || body["att_status"] != nil else {
        throw FieldError(field: "attStatus", reason: "is missing")
      }
      status = try SessionSubmission.status(in: body)
      deviceTime = try SessionSubmission.time("deviceTime", in: body)
      bundleId = try self.bundleId(in: body, request: request)
      hash = SessionSubmission.installHash(
        bundleId: bundleId, installId: try SessionSubmission.identifier("installId", installId))
    } catch {
      return .failure(.invalidArgument(field: error.field, error.reason))
    }
    do {
      // No withdrawal is refused for a strategy that is no longer there: only where nothing is known of the install is it asked for.
      if !routing.isConfigured(bundleId), try await !store.knows(hash) {
        do throws(FieldError) { try routing.checkStatus(body) } catch {
          return .failure(.invalidArgument(field: error.field, error.reason))
        }
      }
      let announce = { (changes: [ATTStatusChange]) in
        try await self.announce(changes, bundleId: bundleId, hash: hash, request)
      }
      let reception = try await store.update(installHash: hash, announce: announce) { install in
        install.learn(status, deviceTime: deviceTime, now: request.receivedAt)
      }
      if reception.releasesHeld { await release(hash) }
      let effect: (status: String, word: String) =
        switch reception.effect {
        case .first: ("accepted", "first")
        case .changed: ("accepted", "changed")
        case .older: ("accepted", "older")
        case .some(.none): ("duplicate", "none")
        case nil: ("accepted", "ignored")
        }
      logger.info(
        "att status received", metadata: ["install": "\(hash)", "attStatus": "\(status.code)", "effect": "\(effect.word)"])
      return .json(200, ["id": .string(hash), "status": .string(effect.status), "effect": .string(effect.word)])
    } catch let error as QueueError {
      return .notTaken(error, status: 503)
    } catch let error as RedisError {
      return .notTaken(.unavailable(error), status: 503)
    } catch {
      return .failure(RPCError(.canceled, "the request was given up"), status: 503)
    }
  }

  /// Puts changes of a status on their way to the feed.
  private func announce(_ changes: [ATTStatusChange], bundleId: String, hash: String, _ request: PublicRequest) async throws {
    for change in changes {
      let change = StatusChange(
        bundleId: bundleId, installHash: hash, from: change.from, to: change.to, deviceTime: change.deviceTime,
        source: change.isUpdate ? "update" : "session")
      _ = try await deliveries.accept(
        AcceptRequest(
          queue: .sessions, idempotencyKey: change.key, orderKey: hash,
          message: request.message(kind: StatusChange.messageKind, body: [], attributes: change.attributes),
          backlogShare: Self.changeShare))
    }
  }

  /// Answers too whether it is held. What is held takes up room that new sessions need: where it gets short the session goes at once,
  /// without consent, rather than be refused.
  private func accept(
    _ session: SessionSubmission, request: PublicRequest, strategy: String, digest: String,
    decision: ATTInstall.Reception.Decision
  ) async throws -> (AcceptOutcome, isHeld: Bool) {
    if case .hold = decision {
      do {
        return (try await taken(session, request: request, strategy: strategy, digest: digest, decision: decision), true)
      } catch QueueError.backlogFull {
        metrics.notHeld()
        try await store.expirePayload(installHash: session.installHash, digest: digest)
      }
    }
    do {
      return (try await taken(session, request: request, strategy: strategy, digest: digest, decision: .send), false)
    } catch QueueError.backlogFull {
      // Nothing is kept of what is refused; what was taken before is known, and not refused.
      try await store.expirePayload(installHash: session.installHash, digest: digest)
      throw QueueError.backlogFull
    }
  }

  private func taken(
    _ session: SessionSubmission, request: PublicRequest, strategy: String, digest: String,
    decision: ATTInstall.Reception.Decision
  ) async throws -> AcceptOutcome {
    let hash = session.installHash
    let filtered = routing.filter.filter(session.payload, consent: false)
    var message = SessionMessage(
      bundleId: session.bundleId, installHash: hash, strategy: strategy, attStatus: session.attStatus,
      removedNames: filtered.removedNames)
    if case .hold(let deadline, let place) = decision {
      message.heldUntil = deadline
      message.place = place
    }
    if !filtered.removedNames.isEmpty, session.attStatus.isConsent || message.heldUntil != nil {
      try await store.keepPayload(request.body, installHash: hash, digest: digest)
      message.payloadDigest = digest
    }
    return try await deliveries.accept(
      AcceptRequest(
        queue: .sessions, idempotencyKey: "session\u{0}\(hash)\u{0}\(digest)", orderKey: hash, naturalKey: nil,
        message: request.message(
          kind: SessionSubmission.messageKind, body: JSONValue.object(filtered.payload).serialized,
          attributes: message.attributes),
        // A millisecond apart, so that they come due in their order.
        notBefore: message.heldUntil.map { $0 + min(message.place ?? 0, 1000) },
        backlogShare: message.heldUntil == nil ? 1 : Self.heldShare))
  }

  /// Makes everything ready that was held for an install, in its order. What this misses leaves at its deadline.
  private func release(_ hash: String) async {
    do {
      var ids = try await store.held(installHash: hash).compactMap { DeliveryID($0) }[...]
      while !ids.isEmpty {
        try await deliveries.makeReady(Array(ids.prefix(Self.released)), in: .sessions)
        ids = ids.dropFirst(Self.released)
      }
    } catch {
      logger.warning("held sessions wait for their deadline", metadata: ["install": "\(hash)", "reason": "\(error)"])
    }
  }

  /// The app a status is for: named in the body or the query, or the only one there is.
  private func bundleId(in body: JSONObject, request: PublicRequest) throws(FieldError) -> String {
    if body["bundleId"] != nil { return try SessionSubmission.identifier("bundleId", in: body) }
    if let named = request.parameter("bundleId") { return try SessionSubmission.identifier("bundleId", named) }
    guard routing.strategies.count == 1, let only = routing.strategies.keys.first else {
      throw FieldError(field: "bundleId", reason: "is missing")
    }
    return only
  }
}
