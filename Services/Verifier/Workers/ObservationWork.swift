import AppStore
import AttributionProtocol
import AttributionQueue
import Cryptography
import ServiceRuntime
import WireJSON

/// Processes what look-ups at Apple have queued: statuses of subscriptions and transactions of one-time purchases, which complete their
/// histories, and other transactions. Data that cannot be verified is rejected, whatever process queued it.
struct ObservationWork: Sendable {
  private static let source = "/verifier"
  /// The pause before the subscription's history is searched again for the notifications that the look-up queued.
  private static let pause: Duration = .milliseconds(300)
  /// At this attempt, a gap is settled without the notifications that are still missing.
  private static let patience = 30
  /// The time before the next attempt if a certificate's OCSP responder is unreachable.
  private static let revocationPause: Duration = .seconds(60)

  let signedData: RevocationCheckedVerifier
  let lifecycle: SubscriptionLifecycle
  let purchases: OneTimePurchases
  let deliveries: DeliveryQueue

  private enum Refusal: Error {
    case unverified(SignedDataReason)
    case revocationUnknown
    /// An OCSP responder must be asked first.
    case open(ask: @Sendable () async -> Void)
  }

  // MARK: Transactions

  /// Publishes a transaction of Apple's history: one event for each of its states.
  func transaction(_ lease: LeasedMessage) async -> WorkOutcome {
    let environment = lease.message.attributes["environment"]
    let payload: JSONObject
    do throws(Refusal) {
      payload = try verified(
        String(decoding: lease.message.body, as: UTF8.self), .transaction, bundleId: lease.message.attributes["bundleId"],
        environment: environment)
    } catch { return refused(error) }
    guard let environment, let key = TransactionObservation.naturalKey(environment: environment, transactionInfo: payload) else {
      return refused(.unverified(.malformed))
    }
    var data = Self.common(lease)
    data["environment"] = .string(environment)
    for name in ["bundleId", "originalTransactionId", "transactionId"] { data[name] = payload[name] }
    data["migrationId"] = lease.message.attributes["migrationId"].map { .string($0) }
    data["gapId"] = lease.message.attributes["gapId"].map { .string($0) }
    data["transactionInfo"] = .object(payload)
    do {
      data["lifecycle"] = try await purchases.addObservation(payload, environment: environment).map { .object($0) }
    } catch {
      return .retry(after: nil, error: "the purchase's history cannot be written")
    }
    return published(.transactionObserved, key, subject: payload["bundleId"]?.stringValue, data)
  }

  // MARK: Statuses

  /// Processes the status of a subscription, which begins the history of a migrated subscription or ends a gap.
  func status(_ lease: LeasedMessage) async -> WorkOutcome {
    guard let observation = StatusObservation(body: lease.message.body) else {
      return .deadLetter(error: "the message is no status of a subscription")
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
      let (histories, _) = try await lifecycle.insert(
        found.step, environment: observation.environment, originalTransactionId: observation.originalTransactionId,
        bundleId: observation.bundleId)
      return published(.subscriptionObserved, found.naturalKey, subject: observation.bundleId, data(lease, observation, found, histories))
    } catch {
      return .retry(after: nil, error: "the subscription's history cannot be written")
    }
  }

  /// The content of a verified answer.
  private struct Found {
    let status: Int64
    let transactionInfo: JSONObject
    let renewalInfo: JSONObject?
    let step: LifecycleStep
    let naturalKey: String
  }

  private func found(_ entry: StatusObservation.Entry, _ observation: StatusObservation) throws(Refusal) -> Found {
    let transaction = try verified(
      entry.signedTransactionInfo, .transaction, bundleId: observation.bundleId, environment: observation.environment)
    var renewal: JSONObject?
    if let text = entry.signedRenewalInfo {
      renewal = try verified(text, .renewalInfo, bundleId: observation.bundleId, environment: observation.environment)
    }
    let id = observation.originalTransactionId
    guard transaction["originalTransactionId"]?.stringValue == id, renewal.map({ $0["originalTransactionId"]?.stringValue == id }) ?? true,
      let step = LifecycleStep(observedStatus: entry.status, transactionInfo: transaction, renewalInfo: renewal)
    else { throw .unverified(.malformed) }
    return Found(
      status: entry.status, transactionInfo: transaction, renewalInfo: renewal, step: step,
      naturalKey: StatusObservation.naturalKey(
        environment: observation.environment, originalTransactionId: id, status: entry.status, transactionInfo: transaction,
        renewalInfo: renewal))
  }

  /// Ends a gap by the notifications that arrived since, or by the state that Apple reports. The result is queued for
  /// notification-recovery, which looked the gap up.
  private func settle(
    _ report: GapReport, _ observation: StatusObservation, _ found: Found?, _ refusal: SignedDataReason?, _ lease: LeasedMessage
  ) async throws -> WorkOutcome {
    let store = lifecycle.store
    if lease.attempt < Self.patience, !observation.awaited.isEmpty {
      let history = try await store.history(environment: report.environment, originalTransactionId: report.originalTransactionId)
      let taken = Set(history?.steps.map(\.notificationUUID) ?? [])
      let compacted = history?.compactedSteps ?? 0
      guard compacted > 0 || taken.isSuperset(of: observation.awaited) else {
        // A retry with a stated delay is never made a dead letter, however often it is repeated.
        return .retry(after: Self.pause, error: "notifications that the look-up queued are not in the history yet")
      }
    }
    let now = WallClock.now()
    var inherited: SubscriptionInheritance?
    if let found {
      inherited = try await lifecycle.inheritance(
        found.step, environment: report.environment, originalTransactionId: report.originalTransactionId, bundleId: observation.bundleId)
    }
    let (history, isRepaired) = try await store.change(report.environment, report.originalTransactionId) { history in
      if let inherited { history.begin(with: inherited) }
      // True also for a repeat after a crash: the step in the history shows that the gap was repaired.
      if let step = found?.step, history.steps.contains(where: { $0.notificationUUID == step.notificationUUID }) { return true }
      guard history.has(gap: report.gap.id, at: now, silence: store.silence) else { return history.settledGaps.contains(report.gap.id) }
      if history.bundleId == nil, !observation.bundleId.isEmpty { history.bundleId = observation.bundleId }
      history.repair(report.gap, by: found?.step)
      return true
    }
    let histories = try await lifecycle.handOn(history)
    let state = histories.last { $0.state != nil }?.state?.status(at: now, silence: store.silence).rawValue
    let settlement = GapSettlement(
      key: report.key, state: isRepaired ? .unrecoverable : .recovered,
      repairedBy: isRepaired ? (found == nil ? nil : "status") : "notifications", observedState: state,
      reason: isRepaired && found == nil
        ? observation.refusal ?? refusal.map { "the answer's signed data: \($0.rawValue)" } ?? "Apple knows no such subscription" : nil)
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

  private static func common(_ lease: LeasedMessage) -> JSONObject {
    [
      "deliveryId": .string(lease.deliveryID.description), "source": .string(lease.message.source),
      "receivedAt": .string(Timestamp(millisecondsSince1970: lease.message.receivedAt).text),
    ]
  }

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

  private func verified(
    _ jws: String, _ kind: SignedDataKind, bundleId: String?, environment: String?
  ) throws(Refusal) -> JSONObject {
    let immediate = signedData.immediateVerdict(
      on: jws, kind: kind, expecting: SignedDataExpectation(bundleId: bundleId, environment: environment), now: WallClock.now())
    let verdict: SignedDataVerdict
    switch immediate {
    case .verdict(let known): verdict = known
    case .open(let ask): throw .open(ask: ask)
    }
    if verdict.valid, let payload = verdict.payload { return payload }
    throw verdict.reason == .revocationUnknown ? .revocationUnknown : .unverified(verdict.reason ?? .malformed)
  }

  private func refused(_ refusal: Refusal) -> WorkOutcome {
    switch refusal {
    case .revocationUnknown:
      .retry(after: Self.revocationPause, error: "whether a certificate was revoked is not known now")
    case .unverified(let reason): .complete(Completion(state: .rejected, events: [], reason: reason.rawValue))
    case .open(let ask): .deferred(atMost: VerificationWorker.revocationPatience, while: ask)
    }
  }
}
