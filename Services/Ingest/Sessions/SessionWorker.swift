import AppleAttribution
import AttributionProtocol
import AttributionQueue
import Logging
import WireJSON

/// Forwards sessions: checks consent again, removes what it does not allow, and records where each was sent.
struct SessionWorker: Sendable {
  /// The longest time, after its deadline, that a session waits for the sessions held before it, milliseconds. It bounds the delay by a
  /// session that cannot be sent.
  static let orderPatience: Int64 = 30_000

  /// The wait for each session before this one, unless it is made ready earlier.
  private static let turn: Duration = .milliseconds(200)
  /// The longest such wait.
  private static let maxTurn: Duration = .seconds(5)

  let deliveries: DeliveryQueue
  let feed: EventFeed
  let store: SessionStore
  let routing: SessionRouting
  let forwarder: SessionForwarder
  /// The delay before the next attempt, by the number of attempts.
  let backoff: @Sendable (Int) -> Duration
  /// How long a session that no host accepts is retried, milliseconds.
  let patience: Int64
  let metrics: IngestMetrics
  let logger: Logger
  /// Milliseconds since 1970.
  let now: @Sendable () -> Int64

  func handle(_ lease: LeasedMessage) async -> WorkOutcome {
    if lease.message.kind == StatusChangeMessage.messageKind { return announce(lease) }
    guard let message = SessionMessage(attributes: lease.message.attributes),
      let filtered = (try? JSONValue(parsing: lease.message.body))?.objectValue
    else { return .deadLetter(error: "the message is not a session") }
    do {
      let install = try await store.install(message.installHash)
      if let deadline = message.heldUntil {
        // The user has not answered and the deadline is not reached.
        let left = deadline - now()
        if install.isHolding, left > 0 {
          return .wait(.milliseconds(left))
        }
        if now() <= deadline + Self.orderPatience {
          let before = try await store.heldBefore(lease.deliveryID.description, installHash: message.installHash)
          if before > 0 { return .wait(min(Self.turn * before, Self.maxTurn)) }
        }
      }
      return try await send(lease, message, filtered: filtered, current: install.record)
    } catch let error as FieldError {
      // The strategy was removed from the configuration. An operator may restore it. The session must not be sent to
      // another region.
      return await giveUp(lease, message, error: "\(error.field) \(error.reason)")
    } catch {
      return .retry(after: nil, error: "the session store does not answer")
    }
  }

  private func announce(_ lease: LeasedMessage) -> WorkOutcome {
    guard let change = StatusChangeMessage(attributes: lease.message.attributes) else {
      return .deadLetter(error: "the message is not a change of a status")
    }
    let event = change.event(lease.deliveryID, receivedAt: lease.message.receivedAt)
    return .complete(
      Completion(
        state: .done, naturalKey: nil,
        events: [
          EventRecord(id: event.id, type: event.type, json: event.json, attributes: EventAttributes(bundleId: change.bundleId))
        ]))
  }

  private func send(
    _ lease: LeasedMessage, _ message: SessionMessage, filtered: JSONObject, current: ATTStatusRecord?
  ) async throws -> WorkOutcome {
    var status = ConsentDecision.status(
      atReceipt: message.attStatus, heldUntil: message.heldUntil, current: current)
    var payload = filtered
    if status.isConsent, let digest = message.payloadDigest {
      if let bytes = try await store.payload(installHash: message.installHash, digest: digest),
        let whole = (try? JSONValue(parsing: bytes))?.objectValue
      {
        payload = whole
      } else {
        // Without the whole payload, the session is sent as if there were no consent.
        status = .unavailable
      }
    }
    let consent = status.isConsent
    let outgoing = routing.filter.filter(SessionSubmission.outgoing(payload, status: status), consent: consent)
    let route = try routing.table.route(strategy: message.strategy, consent: consent)
    let key = lease.deliveryID.description
    // Read before sending: an error after it would send the session twice.
    let tries = lease.attempt > 1 ? try await store.tries(of: key, installHash: message.installHash) : SessionTries()
    let (result, failures) = await forwarder.send(
      outgoing.payload, along: route, idempotencyKey: key, traceparent: lease.traceparent)
    var record = SessionRecord(
      lease: lease, message: message, status: status, route: route,
      removedNames: consent ? [] : Set(message.removedNames + outgoing.removedNames).sorted(), tries: tries)
    for failure in failures { record.tries.add(.init(status: status, host: failure.host), result: failure.result, at: now()) }
    switch result {
    case .failed(let error, let retryAfter):
      metrics.routed(consent: consent, outcome: "failed")
      logger.info(
        "session not sent yet", metadata: ["delivery": "\(key)", "reason": "\(error)", "attempts": "\(lease.attempt)"])
      // If storing fails, the session's event lacks this attempt, and the session is retried anyway.
      do {
        try await store.addTries(failures, status, of: key, installHash: message.installHash, at: now())
      } catch {
        logger.warning("the requests of a session were not recorded", metadata: ["delivery": "\(key)", "reason": "\(error)"])
      }
      return await again(lease, message, error: error, retryAfter: retryAfter)
    case .delivered(let host, let code): (record.host, record.httpStatus, record.isDelivered) = (host, code, true)
    case .refused(let host, let code): (record.host, record.httpStatus, record.isDelivered) = (host, code, false)
    }
    metrics.routed(consent: consent, outcome: record.isDelivered ? "delivered" : "refused")
    record.sentAt = now()
    await cleanUp(key, message)
    let event = record.event
    return .complete(
      Completion(
        state: record.isDelivered ? .done : .rejected, naturalKey: nil,
        events: [
          EventRecord(id: event.id, type: event.type, json: event.json, attributes: EventAttributes(bundleId: message.bundleId))
        ],
        reason: record.isDelivered ? nil : "status \(record.httpStatus)"))
  }

  /// Retries a session until its age, not its number of attempts, exceeds the limit, because a host may be unavailable for hours. A host's
  /// `Retry-After` can only lengthen the backoff. If it is after the limit, the session is tried for the last time at the limit.
  private func again(_ lease: LeasedMessage, _ message: SessionMessage, error: String, retryAfter: Duration?) async -> WorkOutcome {
    let end = (message.heldUntil ?? lease.message.receivedAt) + patience
    let left = Duration.milliseconds(max(0, end - now()))
    let wait = max(min(retryAfter ?? .zero, left), backoff(lease.attempt))
    guard wait > left else { return .retry(after: wait, error: error) }
    return await giveUp(lease, message, error: error)
  }

  /// Publishes the event with the failed requests of the session, then makes the session a dead letter.
  private func giveUp(_ lease: LeasedMessage, _ message: SessionMessage, error: String) async -> WorkOutcome {
    let key = lease.deliveryID.description
    do {
      let tries = try await store.tries(of: key, installHash: message.installHash)
      let event = message.undelivered(lease, reason: error, tries: tries, at: now())
      try await feed.publish(
        EventRecord(id: event.id, type: event.type, json: event.json, attributes: EventAttributes(bundleId: message.bundleId)))
    } catch {
      return .retry(after: .seconds(1), error: "the event of an undelivered session cannot be published")
    }
    // The sessions after it need not wait for it.
    await leaveTurn(key, message)
    return .deadLetter(error: error)
  }

  /// Lets the stored payload expire soon. It is not deleted at once, because the next owner of the shard needs it if this process ends
  /// before the commit.
  private func cleanUp(_ key: String, _ message: SessionMessage) async {
    if let digest = message.payloadDigest {
      try? await store.expirePayload(installHash: message.installHash, digest: digest)
    }
    await leaveTurn(key, message)
  }

  /// Makes the next held session ready, since held sessions are sent in order. After `orderPatience` the others have been tried already and
  /// have retry times of their own.
  private func leaveTurn(_ key: String, _ message: SessionMessage) async {
    guard message.place != nil else { return }
    do {
      try await store.dropHeld(key, installHash: message.installHash)
      guard let deadline = message.heldUntil, now() <= deadline + Self.orderPatience,
        let next = try await store.firstHeld(installHash: message.installHash).flatMap({ DeliveryID($0) })
      else { return }
      try await deliveries.makeReady([next], in: .sessions)
    } catch {
      // The next session is also due by itself after ``turn``.
      logger.debug("the next held session was not made ready", metadata: ["install": "\(message.installHash)", "reason": "\(error)"])
    }
  }
}
