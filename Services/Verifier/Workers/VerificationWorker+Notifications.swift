import AppStore
import AttributionProtocol
import AttributionQueue
import ServiceRuntime
import WireJSON

/// Notifications of the App Store, and the gaps in the histories of their subscriptions.
extension VerificationWorker {
  /// The pause before the next attempt if it is unknown whether a certificate was revoked, because its OCSP responder did not answer.
  private static let revocationPause: Duration = .seconds(60)
  /// The longest time for which a message is delayed while OCSP responders are asked. The responders of a certificate chain are asked
  /// concurrently, and chains one after the other, so this is enough for two chains. Nearly always, all JWS of a message have the same
  /// chain.
  static let revocationTimeout: Duration = OCSPFetcher.timeout * 2 + .seconds(2)

  /// Verifies a notification, and then adds it to its purchase's history and publishes it. The verification does not depend on other
  /// deliveries, so it runs at once. The history depends on earlier notifications of the purchase, so that part runs in the purchase's
  /// order line (`WorkOutcome.inOrder`).
  ///
  /// `SignedDataVerifier` of the module AppStore verifies the outer JWS and the nested ones, and that the app is configured for the
  /// environment. Only a verified notification claims its natural key, which consists of its environment and its `notificationUUID` (or a
  /// digest, if Apple omits that), so that a forged notification cannot take the place of a genuine one.
  func notification(_ lease: LeasedMessage) -> WorkOutcome {
    if NotificationMessage.isVersion1(attributes: lease.message.attributes) {
      return rejected(lease, .notificationRejected, reason: "unsupported_version", field: nil, subject: nil, more: [:])
    }
    let text = String(decoding: lease.message.body, as: UTF8.self)
    // The app that the URL named, or whose key fetched the notification; nil if Apple called the URL for all apps. A URL proves nothing,
    // because anybody can call it.
    let expected = lease.message.attributes[SignedDataExpectation.bundleIdAttribute]
    let expecting = SignedDataExpectation(
      bundleId: expected, requiresKnownApp: true, trustedSource: lease.message.source == QueueMessage.recoverySource)
    let immediate = signedData.immediateVerdict(on: text, kind: .notification, expecting: expecting, now: WallClock.now())
    let verdict: SignedDataVerdict
    switch immediate {
    case .verdict(let known): verdict = known
    case .needsResponders(let ask): return .inOrder { .deferred(atMost: Self.revocationTimeout, while: ask) }
    }
    if verdict.reason == .revocationUnknown {
      // The retry states its delay, so the number of attempts is not limited: an unreachable responder does not show that the notification
      // is forged.
      return .inOrder {
        self.countArrival(lease, verdict)
        return .retry(after: Self.revocationPause, error: "whether a certificate was revoked is not known now")
      }
    }
    guard verdict.valid, let payload = verdict.payload, let environment = verdict.environment,
      let identifier = NotificationContents(payload).uuid ?? NotificationSniffer(signedPayload: text).identifier
    else {
      let claimed = NotificationSniffer(signedPayload: text)
      var more: JSONObject = [:]
      more["environment"] = verdict.environment.map { .string($0) }
      more["expectedBundleId"] = expected.map { .string($0) }
      more["claimedNotificationUUID"] = claimed.notificationUUID.map { .string($0) }
      return rejected(
        lease, .notificationRejected, reason: verdict.reason?.rawValue ?? "malformed", field: verdict.field,
        subject: nil, more: more)
    }
    return .inOrder {
      await self.publish(verdict, payload, identifier: identifier, environment: environment, lease)
    }
  }

  /// Adds a verified notification to the history of its subscription or one-time purchase, and publishes it together with the resulting
  /// state. A notification that this version does not know is published as it is, because its effect on the state is unknown.
  private func publish(
    _ verdict: SignedDataVerdict, _ payload: JSONObject, identifier: String, environment: String, _ lease: LeasedMessage
  ) async -> WorkOutcome {
    let app = verdict.bundleId
    let naturalKey = NotificationSniffer.naturalKey(environment: environment, identifier: identifier)
    countArrival(lease, verdict)
    if let signedDate = payload["signedDate"]?.int64Value {
      metrics.observe(Self.delay, max(0, Double(lease.message.receivedAt) - Double(signedDate)) / 1000, [environment])
    }
    var data = common(lease)
    data["environment"] = .string(environment)
    // A value of another type than the contract has for it is only in the payload.
    for name in ["notificationType", "subtype", "notificationUUID"] { data[name] = payload[name]?.stringValue.map { .string($0) } }
    data["signedDate"] = payload["signedDate"]?.int64Value.map { .integer($0) }
    data["known"] = .bool(verdict.known == true)
    data["payload"] = .object(payload)
    data["transactionInfo"] = verdict.transactionInfo.map { .object($0) }
    data["renewalInfo"] = verdict.renewalInfo.map { .object($0) }
    data["appTransactionInfo"] = verdict.appTransactionInfo.map { .object($0) }
    data["externalPurchaseToken"] = payload["externalPurchaseToken"]?.objectValue.map { .object($0) }
    do {
      if verdict.known == true { data["lifecycle"] = try await lifecycleData(verdict, payload, identifier, environment, lease) }
    } catch {
      return .retry(after: nil, error: "the purchase's history cannot be written")
    }
    do {
      try await noteCommerceRequest(verdict, payload, identifier: identifier, app: app, eventId: naturalKey)
      try await noteConsumptionRequest(verdict, payload, app: app, environment: environment, receivedAt: lease.message.receivedAt)
    } catch {
      return .retry(after: nil, error: "the Advanced Commerce or consumption request in the notification cannot be stored")
    }
    verifiedMetric.add(lease.message.kind, environment)
    var completion = Completion(
      state: .verified, naturalKey: naturalKey, rememberLong: true,
      events: [
        EventRecord(
          id: naturalKey, type: EventType.notificationVerified.rawValue,
          json: event(naturalKey, .notificationVerified, subject: app, data),
          attributes: EventAttributes(
            appAppleId: verdict.appAppleId, bundleId: app, environment: environment))
      ])
    completion.keepsOriginal = true
    if let app, let type = payload["notificationType"]?.stringValue, environment == "Production" {
      completion.countedValues = [.notification(bundleId: app, type: type)]
    }
    return .complete(completion)
  }

  /// Adds a verified notification to the history of its subscription or one-time purchase. Returns the lifecycle data of the event; nil if
  /// the notification is about neither.
  private func lifecycleData(
    _ verdict: SignedDataVerdict, _ payload: JSONObject, _ identifier: String, _ environment: String, _ lease: LeasedMessage
  ) async throws -> JSONValue? {
    var notification = payload
    if notification["notificationUUID"]?.stringValue != identifier { notification["notificationUUID"] = .string(identifier) }
    var change = try await lifecycle.addNotification(
      notification, transactionInfo: verdict.transactionInfo, renewalInfo: verdict.renewalInfo, environment: environment,
      bundleId: verdict.bundleId, receivedAt: lease.message.receivedAt)
    if change == nil {
      change = try await purchases.addNotification(notification, transactionInfo: verdict.transactionInfo, environment: environment)
    }
    return change.map { .object($0) }
  }

  /// Stores the notification for `GetAdvancedCommerceCall`: under each Advanced Commerce request that it names, and, if it reports a change
  /// that such a request can cause, under its purchase.
  private func noteCommerceRequest(
    _ verdict: SignedDataVerdict, _ payload: JSONObject, identifier: String, app: String?, eventId: String
  ) async throws {
    let references = Set(
      [verdict.transactionInfo, verdict.renewalInfo].compactMap {
        $0?["advancedCommerceInfo"]?["requestReferenceId"]?.stringValue?.lowercased()
      })
    guard let app, let type = payload["notificationType"]?.stringValue else { return }
    var subjects = references.map { CommerceNotifications.Subject.reference($0) }
    if CommerceChange(notificationType: type) != nil, let purchase = verdict.transactionInfo?["originalTransactionId"]?.stringValue {
      subjects.append(.purchase(purchase))
    }
    guard !subjects.isEmpty else { return }
    let entry = CommerceNotifications.Entry(
      eventId: eventId, type: type, subtype: payload["subtype"]?.stringValue, uuid: identifier,
      signedDate: payload["signedDate"]?.int64Value ?? 0, references: references)
    for subject in subjects { try await deliveries.commerceNotifications.add(entry, bundleId: app, subject) }
  }

  /// Stores a request of Apple's for consumption information, which `SendConsumptionInformation` answers.
  private func noteConsumptionRequest(
    _ verdict: SignedDataVerdict, _ payload: JSONObject, app: String?, environment: String, receivedAt: Int64
  ) async throws {
    guard payload["notificationType"]?.stringValue == "CONSUMPTION_REQUEST", let app,
      let transactionId = verdict.transactionInfo?["transactionId"]?.stringValue
    else { return }
    try await deliveries.consumptionRequests.add(
      ConsumptionRequests.Entry(
        signedDate: payload["signedDate"]?.int64Value ?? receivedAt, productType: verdict.transactionInfo?["type"]?.stringValue ?? ""),
      bundleId: app, environment: environment, transactionId: transactionId)
  }

  /// Counts the arrival of a notification (``VerifiedArrivals``). If it is unknown whether a certificate was revoked, only the first
  /// attempt counts. Notifications that a recovery queued are not counted, because Apple did not post them, and those that are judged again are
  /// not, because they may have been received days ago.
  private func countArrival(_ lease: LeasedMessage, _ verdict: SignedDataVerdict) {
    guard verdict.valid || (verdict.reason == .revocationUnknown && lease.attempt == 1), lease.message.source == QueueMessage.publicSource,
      lease.message.earlierRejection == nil,
      let environment = verdict.environment, let app = verdict.bundleId
    else { return }
    arrivals.add(environment: environment, bundleId: app, receivedAt: lease.message.receivedAt)
  }

  /// Publishes an event about a suspected gap, unless a late notification has closed the gap meanwhile
  /// (``SubscriptionLifecycle/checkGap(_:)``).
  func gap(_ lease: LeasedMessage) async -> WorkOutcome {
    do {
      guard let found = try await lifecycle.checkGap(lease.message.body) else {
        return .complete(Completion(state: .done, events: [], reason: "explained"))
      }
      let event = event(found.key, .subscriptionGap, subject: found.subject, found.data)
      return .complete(
        Completion(
          state: .done, naturalKey: found.key, rememberLong: true,
          events: [
            EventRecord(
              id: found.key, type: EventType.subscriptionGap.rawValue, json: event,
              attributes: EventAttributes(bundleId: found.subject, environment: found.data["environment"]?.stringValue))
          ]))
    } catch {
      return .retry(after: nil, error: "the subscription's history cannot be read")
    }
  }
}
