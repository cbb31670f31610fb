import AppStore
import AttributionProtocol
import AttributionQueue
import Cryptography
import ServiceRuntime
import WireJSON

/// Processes what notification-recovery has looked up at Apple and queued in the intake: transactions and statuses of subscriptions. Both
/// are published, and complete the histories of one-time purchases and of subscriptions. A status may also end a gap. Data that cannot be
/// verified is rejected, whatever process queued it.
struct ObservationWork: Sendable {
  private static let source = "/verifier"
  /// The pause before the subscription's history is searched again for notifications that the look-up of a gap has queued.
  private static let pause: Duration = .milliseconds(300)
  /// The attempt at which a gap is settled even if notifications that its look-up has queued are not in the history yet.
  private static let finalAttempt = 30
  /// The pause before the next attempt if it is unknown whether a certificate was revoked, because its OCSP responder did not answer.
  private static let revocationPause: Duration = .seconds(60)

  let signedData: RevocationCheckedVerifier
  let lifecycle: SubscriptionLifecycle
  let purchases: OneTimePurchases
  let deliveries: DeliveryQueue

  /// Why a message cannot be processed now, or not at all.
  private enum Refusal: Error {
    case unverified(SignedDataReason)
    /// OCSP responders were asked, and it is unknown whether a certificate was revoked.
    case revocationUnknown
    /// OCSP responders must be asked first.
    case needsResponders(ask: @Sendable () async -> Void)
  }

  // MARK: Transactions

  /// Publishes a transaction of Apple's history. The event's id depends on the transaction's content, so there is one event for each of its
  /// states.
  func transaction(_ lease: LeasedMessage) async -> WorkOutcome {
    let environment = lease.message.attributes["environment"]
    let fetchedFor = lease.message.attributes["bundleId"]
    let payload: JSONObject
    do throws(Refusal) {
      payload = try verified(
        String(decoding: lease.message.body, as: UTF8.self), .transaction, bundleId: fetchedFor, environment: environment)
    } catch { return refused(error) }
    guard let environment else { return refused(.unverified(.wrongEnvironment)) }
    let key = TransactionObservation.naturalKey(environment: environment, transactionInfo: payload)
    var data = Self.common(lease)
    data["environment"] = .string(environment)
    let app = payload["bundleId"]?.stringValue ?? fetchedFor
    data["bundleId"] = app.map { .string($0) }
    for name in ["originalTransactionId", "transactionId"] { data[name] = payload[name]?.stringValue.map { .string($0) } }
    data["migrationId"] = lease.message.attributes["migrationId"].map { .string($0) }
    data["gapId"] = lease.message.attributes["gapId"].map { .string($0) }
    data["transactionInfo"] = .object(payload)
    do {
      data["lifecycle"] = try await purchases.addObservation(payload, environment: environment).map { .object($0) }
    } catch {
      return .retry(after: nil, error: "the purchase's history cannot be written")
    }
    return published(.transactionObserved, key, subject: app, data)
  }

  // MARK: Statuses

  /// Processes the status of a subscription. It begins or continues the history of a migrated subscription, or ends a gap.
  func status(_ lease: LeasedMessage) async -> WorkOutcome {
    guard let observation = StatusObservation(body: lease.message.body) else {
      return .deadLetter(error: "the message is not the status of a subscription")
    }
    var found: Found?
    var refusal: SignedDataReason?
    do throws(Refusal) {
      if let entry = observation.entry { found = try self.found(entry, observation) }
    } catch {
      guard observation.gap != nil, case .unverified(let reason) = error else { return refused(error) }
      refusal = reason
    }
    do {
      if let gap = observation.gap { return try await settle(gap, observation, found, refusal, lease) }
      guard let found else { return .complete(Completion(state: .done, events: [], reason: "nothing was answered")) }
      var histories: [SubscriptionHistory] = []
      if let step = found.step {
        histories = try await lifecycle.insert(
          step, environment: observation.environment, originalTransactionId: observation.originalTransactionId,
          bundleId: observation.bundleId
        ).0
      }
      return published(.subscriptionObserved, found.naturalKey, subject: observation.bundleId, data(lease, observation, found, histories))
    } catch {
      return .retry(after: nil, error: "the subscription's history cannot be written")
    }
  }

  /// The content of a verified status.
  private struct Found {
    let status: Int64
    let transactionInfo: JSONObject
    let renewalInfo: JSONObject?
    /// Nil if the JWS lack a member without which the status has no place in the history.
    let step: LifecycleStep?
    let naturalKey: String
  }

  /// Verifies the JWS of a status.
  private func found(_ entry: StatusObservation.Entry, _ observation: StatusObservation) throws(Refusal) -> Found {
    let transaction = try verified(
      entry.signedTransactionInfo, .transaction, bundleId: observation.bundleId, environment: observation.environment)
    var renewal: JSONObject?
    if let text = entry.signedRenewalInfo {
      renewal = try verified(text, .renewalInfo, bundleId: observation.bundleId, environment: observation.environment)
    }
    let id = observation.originalTransactionId
    // Apple was asked for this id. So an id that is missing is this one, but another id is of another subscription.
    guard [transaction, renewal].allSatisfy({ ($0?["originalTransactionId"]?.stringValue ?? id) == id }) else {
      throw .unverified(.malformed)
    }
    return Found(
      status: entry.status, transactionInfo: transaction, renewalInfo: renewal,
      step: LifecycleStep(observedStatus: entry.status, transactionInfo: transaction, renewalInfo: renewal),
      naturalKey: StatusObservation.naturalKey(
        environment: observation.environment, originalTransactionId: id, status: entry.status, transactionInfo: transaction,
        renewalInfo: renewal))
  }

  /// Ends a gap: the notifications that have arrived since have closed it, or the status that Apple returned repairs the history. The
  /// result is queued for notification-recovery, which looked the gap up (`GapWork` there).
  ///
  /// - Parameters:
  ///   - found: the verified status; nil if Apple knows no such subscription, was not asked, or if the status cannot be verified.
  ///   - refusal: why the status cannot be verified.
  private func settle(
    _ report: GapReport, _ observation: StatusObservation, _ found: Found?, _ refusal: SignedDataReason?, _ lease: LeasedMessage
  ) async throws -> WorkOutcome {
    let store = lifecycle.store
    if lease.attempt < Self.finalAttempt, !observation.awaited.isEmpty {
      let history = try await store.history(environment: report.environment, originalTransactionId: report.originalTransactionId)
      let present = Set(history?.steps.map(\.notificationUUID) ?? [])
      let compacted = history?.compactedSteps ?? 0
      // In a compacted history, the UUIDs of older steps are no longer known, so it would be useless to wait for them.
      guard compacted > 0 || present.isSuperset(of: observation.awaited) else {
        return .retry(after: Self.pause, error: "notifications that the look-up queued are not in the history yet")
      }
    }
    let now = WallClock.now()
    var inherited: SubscriptionInheritance?
    let step = found?.step
    if let step {
      inherited = try await lifecycle.inheritance(
        step, environment: report.environment, originalTransactionId: report.originalTransactionId, bundleId: observation.bundleId)
    }
    let (history, isRepaired) = try await store.change(report.environment, report.originalTransactionId) { history in
      if let inherited { history.begin(with: inherited) }
      // If this runs again after a crash, the step is in the history already, which shows that the gap was repaired.
      if let step, history.steps.contains(where: { $0.notificationUUID == step.notificationUUID }) { return true }
      guard history.has(gap: report.gap.id, at: now, silence: store.silence) else { return history.settledGaps.contains(report.gap.id) }
      if history.bundleId == nil, !observation.bundleId.isEmpty { history.bundleId = observation.bundleId }
      history.repair(report.gap, by: step)
      return true
    }
    let histories = try await lifecycle.propagate(history)
    let state = histories.last { $0.state != nil }?.state?.status(at: now, silence: store.silence).rawValue
    let settlement = GapSettlement(
      key: report.key, state: isRepaired ? .unrecoverable : .recovered,
      repairedBy: isRepaired ? (step == nil ? nil : "status") : "notifications", observedState: state,
      reason: isRepaired && step == nil
        ? observation.refusal ?? refusal.map { "Apple's answer cannot be verified: \($0.rawValue)" }
          ?? found.map { _ in "Apple's answer lacks a transaction id or a time of signing" } ?? "Apple knows no such subscription" : nil)
    _ = try await deliveries.accept(
      AcceptRequest(
        queue: .gaps, idempotencyKey: "settled:\(lease.deliveryID)",
        orderKey: NotificationSniffer.orderKey(
          environment: report.environment, originalTransactionId: report.originalTransactionId),
        message: QueueMessage(kind: GapSettlement.kind, body: settlement.body, receivedAt: now, source: "verifier")))
    guard isRepaired, let found else {
      return .complete(Completion(state: .done, events: [], reason: isRepaired ? "unanswered" : "explained"))
    }
    return published(.subscriptionObserved, found.naturalKey, subject: observation.bundleId, data(lease, observation, found, histories))
  }

  // MARK: Helpers

  /// The data of the event about a status.
  private func data(
    _ lease: LeasedMessage, _ observation: StatusObservation, _ found: Found, _ histories: [SubscriptionHistory]
  ) -> JSONObject {
    var data = Self.common(lease)
    data["environment"] = .string(observation.environment)
    data["bundleId"] = .string(observation.bundleId)
    data["originalTransactionId"] = .string(observation.originalTransactionId)
    data["status"] = .integer(found.status)
    data["transactionInfo"] = .object(found.transactionInfo)
    data["renewalInfo"] = found.renewalInfo.map { .object($0) }
    data["gap"] = observation.gap.map { .object($0.gap.json) }
    data["migrationId"] = observation.migrationId.map { .string($0) }
    data["lifecycle"] = lifecycle.summary(histories).map { .object($0) }
    return data
  }

  /// The members with which the data of an event begins.
  private static func common(_ lease: LeasedMessage) -> JSONObject {
    [
      "deliveryId": .string(lease.deliveryID.description), "source": .string(lease.message.source),
      "receivedAt": .string(Timestamp(millisecondsSince1970: lease.message.receivedAt).text),
    ]
  }

  /// The outcome that publishes an event. The natural key is also the event's id.
  private func published(_ type: EventType, _ naturalKey: String, subject: String?, _ data: JSONObject) -> WorkOutcome {
    let event = CloudEvent(
      id: naturalKey, source: Self.source, type: type, subject: subject, time: Timestamp(millisecondsSince1970: WallClock.now()), data: data
    )
    return .complete(
      Completion(
        state: .verified, naturalKey: naturalKey, rememberLong: true,
        events: [
          EventRecord(
            id: event.id, type: event.type, json: event.json,
            attributes: EventAttributes(bundleId: subject, environment: data["environment"]?.stringValue))
        ]))
  }

  /// The payload of a JWS, if it is valid and was signed for this app and environment. The app's key fetched it, so a JWS that names no app
  /// is about this one.
  private func verified(
    _ jws: String, _ kind: SignedDataKind, bundleId: String?, environment: String?
  ) throws(Refusal) -> JSONObject {
    let immediate = signedData.immediateVerdict(
      on: jws, kind: kind, expecting: SignedDataExpectation(bundleId: bundleId, environment: environment, trustedSource: true),
      now: WallClock.now())
    let verdict: SignedDataVerdict
    switch immediate {
    case .verdict(let known): verdict = known
    case .needsResponders(let ask): throw .needsResponders(ask: ask)
    }
    if verdict.valid, let payload = verdict.payload { return payload }
    throw verdict.reason == .revocationUnknown ? .revocationUnknown : .unverified(verdict.reason ?? .malformed)
  }

  /// The outcome of a message that cannot be processed.
  private func refused(_ refusal: Refusal) -> WorkOutcome {
    switch refusal {
    case .revocationUnknown:
      .retry(after: Self.revocationPause, error: "whether a certificate was revoked is not known now")
    case .unverified(let reason): .complete(Completion(state: .rejected, events: [], reason: reason.rawValue))
    case .needsResponders(let ask): .deferred(atMost: VerificationWorker.revocationTimeout, while: ask)
    }
  }
}
