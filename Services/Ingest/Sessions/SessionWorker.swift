import AppleAttribution
import AttributionProtocol
import AttributionQueue
import Logging
import WireJSON

/// Handles the messages of the queue `sessions`. It forwards a session: checks consent again, removes the fields that need consent if there
/// is none, sends the session to the hosts of its strategy (``SessionForwarder``), and publishes an event that says where it was sent. It
/// also publishes the changes of ATT statuses (``StatusChangeMessage``).
struct SessionWorker: Sendable {
  /// The longest time for which a session waits, after its own deadline, for the sessions that were held before it; milliseconds. It limits
  /// the delay by a session that cannot be sent.
  static let orderTimeout: Int64 = 30_000

  /// The wait of a session for each session that was held before it. A session that leaves the order makes the next one ready earlier.
  private static let waitPerSession: Duration = .milliseconds(200)
  /// The longest wait for all of them.
  private static let maxOrderWait: Duration = .seconds(5)

  let deliveries: DeliveryQueue
  let feed: EventFeed
  let store: SessionStore
  let routing: SessionRouting
  let forwarder: SessionForwarder
  /// The delay before the next attempt, by the number of attempts.
  let backoff: @Sendable (Int) -> Duration
  /// The time for which a session that no host accepts is retried, milliseconds.
  let retryTimeout: Int64
  let metrics: IngestMetrics
  let logger: Logger
  /// Milliseconds since 1970.
  let now: @Sendable () -> Int64

  func handle(_ lease: LeasedMessage) async -> WorkOutcome {
    if lease.message.kind == StatusChangeMessage.messageKind { return publishStatusChange(lease) }
    guard let message = SessionMessage(attributes: lease.message.attributes),
      let filtered = (try? JSONValue(parsing: lease.message.body))?.objectValue
    else { return .deadLetter(error: "the message is not a session") }
    do {
      let install = try await store.install(message.installHash)
      if let deadline = message.heldUntil {
        // While the user has not answered, the session is held until its deadline.
        let remaining = deadline - now()
        if install.isHolding, remaining > 0 {
          return .wait(.milliseconds(remaining))
        }
        if now() <= deadline + Self.orderTimeout {
          let before = try await store.heldBefore(lease.deliveryID.description, installHash: message.installHash)
          if before > 0 { return .wait(min(Self.waitPerSession * before, Self.maxOrderWait)) }
        }
      }
      return try await send(lease, message, filtered: filtered, current: install.record)
    } catch let error as FieldError {
      // The strategy was removed from the configuration. The session must not be sent to another region, so it becomes a dead letter, which
      // an operator can replay after restoring the strategy.
      return await giveUp(lease, message, error: "\(error.field) \(error.reason)")
    } catch {
      return .retry(after: nil, error: "the session store does not answer")
    }
  }

  /// Publishes the event of a changed status.
  private func publishStatusChange(_ lease: LeasedMessage) -> WorkOutcome {
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

  /// Sends a session with the status that counts now.
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
    // The earlier requests are read before sending, because an error after sending would cause the session to be sent again.
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
        "a session was not accepted by any host",
        metadata: ["delivery": "\(key)", "reason": "\(error)", "attempts": "\(lease.attempt)"])
      // If counting fails, only the session's event is incomplete.
      do {
        try await store.addTries(failures, status, of: key, installHash: message.installHash, at: now())
      } catch {
        logger.warning("the failed requests of a session were not counted", metadata: ["delivery": "\(key)", "reason": "\(error)"])
      }
      return await retryOrGiveUp(lease, message, error: error, retryAfter: retryAfter)
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

  /// Retries a session until ``retryTimeout`` is over, whatever the number of attempts, because a host may be unavailable for hours. Then
  /// gives it up. `Retry-After` of a host can only lengthen the backoff. If it ends after the timeout, the last attempt is made at the
  /// timeout.
  private func retryOrGiveUp(_ lease: LeasedMessage, _ message: SessionMessage, error: String, retryAfter: Duration?) async -> WorkOutcome {
    let end = (message.heldUntil ?? lease.message.receivedAt) + retryTimeout
    let remaining = Duration.milliseconds(max(0, end - now()))
    let wait = max(min(retryAfter ?? .zero, remaining), backoff(lease.attempt))
    guard wait > remaining else { return .retry(after: wait, error: error) }
    return await giveUp(lease, message, error: error)
  }

  /// Publishes the event that lists the failed requests of the session, and then makes the session a dead letter.
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
    await leaveOrder(key, message)
    return .deadLetter(error: error)
  }

  /// Lets the stored payload expire soon, and removes the session from the order. The payload is not deleted at once, because the next
  /// owner of the shard needs it if this process ends before the commit.
  private func cleanUp(_ key: String, _ message: SessionMessage) async {
    if let digest = message.payloadDigest {
      try? await store.expirePayload(installHash: message.installHash, digest: digest)
    }
    await leaveOrder(key, message)
  }

  /// Removes a session from the held ones and makes the next one ready, because held sessions are sent in order. After ``orderTimeout`` the
  /// others do not wait any more.
  private func leaveOrder(_ key: String, _ message: SessionMessage) async {
    guard message.position != nil else { return }
    do {
      try await store.removeHeld(key, installHash: message.installHash)
      guard let deadline = message.heldUntil, now() <= deadline + Self.orderTimeout,
        let next = try await store.firstHeld(installHash: message.installHash).flatMap({ DeliveryID($0) })
      else { return }
      try await deliveries.makeReady([next], in: .sessions)
    } catch {
      // The next session also becomes due without this, after its wait.
      logger.debug("the next held session was not made ready", metadata: ["install": "\(message.installHash)", "reason": "\(error)"])
    }
  }
}
