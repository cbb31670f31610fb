import AppleAttribution
import AttributionProtocol
import AttributionQueue
import Cryptography
import Logging
import RedisClient
import ServiceRuntime
import WireJSON

/// Accepts SDK sessions and ATT statuses into the queue `sessions`, which ``SessionWorker`` works.
///
/// A session is sent at once, or held until the user answers the ATT prompt (``ATTInstall``). Fields that need consent are removed before a
/// session is queued, so neither its message nor a dead letter contains them. The whole payload is stored separately (``SessionStore``),
/// only if the user has consented or may still answer, and only until it is sent.
struct SessionIntake: Sendable {
  /// The share of the backlog's limit at which held sessions are refused, so that they leave room for sessions that are sent at once.
  private static let heldShare = 0.9
  /// The share of the backlog's limit at which changes of a status are refused. It is above 1, so that sessions that fill the queue do not
  /// block a user's answer.
  private static let changeShare: Double = 2
  /// The number of held sessions that are made ready in one call.
  private static let releaseBatch = 200

  let deliveries: DeliveryQueue
  let store: SessionStore
  let routing: SessionRouting
  /// The longest time for which a session is held, milliseconds.
  let maxWait: Int64
  let metrics: IngestMetrics
  let logger: Logger

  /// `POST /v1/sessions`.
  func receive(_ request: PublicHTTPRequest) async -> PublicHTTPResponse {
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
      // A repeated session counts at the time of its first receipt, so that its old "authorized" does not undo a later refusal.
      let firstSeen = try await store.firstSeen(installHash: hash, digest: digest, now: request.receivedAt)
      let announce = { (changes: [ATTStatusChange]) in
        try await self.announce(changes, bundleId: session.bundleId, hash: hash, request)
      }
      // If this session ends the wait, the held sessions are released before it is queued, so that it does not overtake them.
      let reception = try await store.update(installHash: hash, announce: announce, whenWritten: heldRelease(for: hash)) { install in
        install.receive(session, now: firstSeen, maxWait: maxWait)
      }
      metrics.received(session.report)
      let (outcome, isHeld) = try await accept(
        session, request: request, strategy: strategy, digest: digest, decision: reception.decision)
      if case .duplicate(let id) = outcome, try await deliveries.delivery(id)?.state != .accepted {
        // This repeats a session that was already sent, so the payload that was just stored again is not needed.
        try await store.expirePayload(installHash: hash, digest: digest)
      }
      if isHeld, case .accepted(let id) = outcome, case .hold(_, let position) = reception.decision {
        metrics.held()
        try await store.hold(id.description, installHash: hash, position: position)
        // If the user's answer was received after the decision to hold, its release did not include this session.
        if try await !store.install(hash).isHolding { await release(hash) }
      }
      return .receipt(outcome, status: 202)
    } catch let error as QueueError {
      return .notAccepted(error)
    } catch let error as RedisError {
      return .notAccepted(.unavailable(error))
    } catch {
      return .failure(.unavailable("the request was cancelled; send it again", retryAfter: .seconds(5)))
    }
  }

  /// `PUT /v1/sessions/{installId}/att-status`.
  ///
  /// A status is accepted if a session of the app would be accepted, and for every install with a stored status. So a withdrawal of consent
  /// is accepted even if the app or its strategy was removed from the configuration. A status that is missing or cannot be read ends a stored
  /// consent too, and is refused afterwards. If the app cannot be told, that is so in every configured app.
  func receiveStatus(_ request: PublicHTTPRequest, installId: String) async -> PublicHTTPResponse {
    var body = JSONObject()
    var fault: FieldError?
    do throws(FieldError) { body = try request.object() } catch { fault = error }
    let report = ATTStatusReport(in: body)
    var named: String?
    do throws(FieldError) {
      _ = try SessionSubmission.identifier("installId", installId)
    } catch {
      let refusal = fault ?? error
      return .failure(.invalidArgument(field: refusal.field, refusal.reason))
    }
    do throws(FieldError) { named = try bundleId(in: body, request: request) } catch { fault = fault ?? error }
    guard let bundleId = named else {
      return await withdrawEverywhere(report, body, installId: installId, request, fault: fault)
    }
    let hash = SessionSubmission.installHash(bundleId: bundleId, installId: installId)
    if fault == nil {
      let isPresent = body.keys.contains { ATTStatusReport.isName($0) }
      fault = isPresent ? report.fault : FieldError(field: "attStatus", reason: "is missing")
    }
    metrics.received(report)
    do {
      if fault != nil || !routing.isConfigured(bundleId), try await !store.knows(hash) {
        do throws(FieldError) {
          if let fault { throw fault }
          try routing.checkStatus(body)
        } catch {
          return .failure(.invalidArgument(field: error.field, error.reason))
        }
      }
      let reception = try await learn(report, body, bundleId: bundleId, hash: hash, request)
      let response: (status: String, effect: String) =
        switch reception.effect {
        case .first: ("accepted", "first")
        case .changed: ("accepted", "changed")
        case .older: ("accepted", "older")
        case .some(.none): ("duplicate", "none")
        case nil: ("accepted", "ignored")
        }
      logger.info(
        "att status received", metadata: ["install": "\(hash)", "attStatus": "\(report.status.code)", "effect": "\(response.effect)"])
      if let fault { return .failure(.invalidArgument(field: fault.field, fault.reason)) }
      return .json(200, ["id": .string(hash), "status": .string(response.status), "effect": .string(response.effect)])
    } catch let error as QueueError {
      return .notAccepted(error)
    } catch let error as RedisError {
      return .notAccepted(.unavailable(error))
    } catch {
      return .failure(RPCError(.canceled, "the request was cancelled; send it again"), status: 503)
    }
  }

  /// Refuses a status whose app cannot be told. If it is no consent, it first ends the consent of the install id in every configured app.
  private func withdrawEverywhere(
    _ report: ATTStatusReport, _ body: JSONObject, installId: String, _ request: PublicHTTPRequest, fault: FieldError?
  ) async -> PublicHTTPResponse {
    metrics.received(report)
    do {
      if !report.status.isConsent {
        for bundleId in routing.strategies.keys.sorted() {
          let hash = SessionSubmission.installHash(bundleId: bundleId, installId: installId)
          if try await store.install(hash).record?.status.isConsent == true {
            _ = try await learn(report, body, bundleId: bundleId, hash: hash, request)
          }
        }
      }
      return .failure(.invalidArgument(field: fault?.field ?? "bundleId", fault?.reason ?? "is missing"))
    } catch let error as QueueError {
      return .notAccepted(error)
    } catch let error as RedisError {
      return .notAccepted(.unavailable(error))
    } catch {
      return .failure(RPCError(.canceled, "the request was cancelled; send it again"), status: 503)
    }
  }

  /// Applies a status to an install, and announces the change.
  private func learn(
    _ report: ATTStatusReport, _ body: JSONObject, bundleId: String, hash: String, _ request: PublicHTTPRequest
  ) async throws -> ATTInstall.Reception {
    let announce = { (changes: [ATTStatusChange]) in
      try await self.announce(changes, bundleId: bundleId, hash: hash, request)
    }
    return try await store.update(installHash: hash, announce: announce, whenWritten: heldRelease(for: hash)) { install in
      install.learn(report.status, deviceTime: DeviceTime.milliseconds(body["deviceTime"]), now: request.receivedAt)
    }
  }

  /// Queues changes of a status for the feed.
  private func announce(_ changes: [ATTStatusChange], bundleId: String, hash: String, _ request: PublicHTTPRequest) async throws {
    for change in changes {
      let change = StatusChangeMessage(
        bundleId: bundleId, installHash: hash, from: change.from, to: change.to, deviceTime: change.deviceTime,
        source: change.isUpdate ? "update" : "session")
      _ = try await deliveries.accept(
        AcceptRequest(
          queue: .sessions, idempotencyKey: change.key, orderKey: hash,
          message: request.message(kind: StatusChangeMessage.messageKind, body: [], attributes: change.attributes),
          backlogShare: Self.changeShare))
    }
  }

  /// Queues a session. Returns also whether it is held. If the queue has no room for held sessions, the session is not held: it is sent at
  /// once, without the fields that need consent.
  private func accept(
    _ session: SessionSubmission, request: PublicHTTPRequest, strategy: String, digest: String,
    decision: ATTInstall.Reception.Decision
  ) async throws -> (AcceptOutcome, isHeld: Bool) {
    if case .hold = decision {
      do {
        return (try await enqueue(session, request: request, strategy: strategy, digest: digest, decision: decision), true)
      } catch QueueError.backlogFull {
        metrics.notHeld()
        try await store.expirePayload(installHash: session.installHash, digest: digest)
      }
    }
    do {
      return (try await enqueue(session, request: request, strategy: strategy, digest: digest, decision: .send), false)
    } catch QueueError.backlogFull {
      // The session is refused, so its payload is removed. No earlier delivery needs the payload, because a repeat of an accepted session
      // is not refused.
      try await store.expirePayload(installHash: session.installHash, digest: digest)
      throw QueueError.backlogFull
    }
  }

  /// Stores the whole payload if necessary, and queues the session without the fields that need consent.
  private func enqueue(
    _ session: SessionSubmission, request: PublicHTTPRequest, strategy: String, digest: String,
    decision: ATTInstall.Reception.Decision
  ) async throws -> AcceptOutcome {
    let hash = session.installHash
    let filtered = routing.filter.filter(session.payload, consent: false)
    var message = SessionMessage(
      bundleId: session.bundleId, installHash: hash, strategy: strategy, attStatus: session.attStatus,
      removedNames: filtered.removedNames)
    if case .hold(let deadline, let position) = decision {
      message.heldUntil = deadline
      message.position = position
    }
    // A session with an unknown status is held only to keep the order. It is sent without the fields that need consent, whatever the user
    // answers.
    if !filtered.removedNames.isEmpty, session.attStatus.isConsent || message.heldUntil != nil && session.attStatus.isKnown {
      try await store.addPayload(request.body, installHash: hash, digest: digest)
      message.payloadDigest = digest
    }
    return try await deliveries.accept(
      AcceptRequest(
        queue: .sessions, idempotencyKey: "session\u{0}\(hash)\u{0}\(digest)", orderKey: hash, naturalKey: nil,
        message: request.message(
          kind: SessionSubmission.messageKind, body: JSONValue.object(filtered.payload).serialized,
          attributes: message.attributes),
        // The first 1,000 held sessions of an install become due one millisecond apart, and so in order.
        notBefore: message.heldUntil.map { $0 + min(message.position ?? 0, 1000) },
        backlogShare: message.heldUntil == nil ? 1 : Self.heldShare))
  }

  /// A closure that releases the held sessions of an install if its new state does not hold them any more.
  private func heldRelease(for hash: String) -> (ATTInstall.Reception) async -> Void {
    { reception in
      if reception.releasesHeld { await release(hash) }
    }
  }

  /// Makes all held sessions of an install ready, in order. If that fails, they become ready at their deadlines.
  private func release(_ hash: String) async {
    do {
      var ids = try await store.held(installHash: hash).compactMap { DeliveryID($0) }[...]
      while !ids.isEmpty {
        try await deliveries.makeReady(Array(ids.prefix(Self.releaseBatch)), in: .sessions)
        ids = ids.dropFirst(Self.releaseBatch)
      }
    } catch {
      logger.warning(
        "held sessions could not be released now; they are released at their deadlines",
        metadata: ["install": "\(hash)", "reason": "\(error)"])
    }
  }

  /// The app of a status: the one that the body or the query names, or else the only configured app.
  private func bundleId(in body: JSONObject, request: PublicHTTPRequest) throws(FieldError) -> String {
    if let value = body["bundleId"], !value.isNull { return try SessionSubmission.identifier("bundleId", in: body) }
    if let named = request.parameter("bundleId") { return try SessionSubmission.identifier("bundleId", named) }
    guard routing.strategies.count == 1, let only = routing.strategies.keys.first else {
      throw FieldError(field: "bundleId", reason: "is missing")
    }
    return only
  }
}
