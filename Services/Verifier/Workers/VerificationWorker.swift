import AppStore
import AppleAttribution
import AttributionProtocol
import AttributionQueue
import Cryptography
import Logging
import WireJSON

/// Makes one event of each delivery of the intake queue: proved, or rejected with its reason.
struct VerificationWorker: Sendable {
  private static let source = "/verifier"
  let postbacks: PostbackVerifier
  let signedData: SignedDataJudge
  let lifecycle: SubscriptionLifecycle
  let meanings: PostbackMeanings
  let logger: Logger

  func handle(_ lease: LeasedMessage) async -> WorkOutcome {
    switch lease.message.kind {
    case PostbackKind.skAdNetwork.rawValue: return skAdNetwork(lease)
    case PostbackKind.adAttributionKit.rawValue: return adAttributionKit(lease)
    case "notification": return await notification(lease)
    case SubscriptionLifecycle.gapKind: return await gap(lease)
    default: return .deadLetter(error: "unknown kind of delivery")
    }
  }

  // MARK: Postbacks

  private func skAdNetwork(_ lease: LeasedMessage) -> WorkOutcome {
    let verdict = postbacks.verdict(onSKAdNetwork: lease.message.body, expecting: expectedAdNetwork(lease))
    guard verdict.valid, let postback = verdict.postback, let naturalKey = verdict.naturalKey else {
      return rejected(
        lease, .skadnetworkPostbackRejected, reason: verdict.reason?.rawValue ?? "malformed", field: verdict.field,
        subject: nil, more: ["version": verdict.version.map { .string($0) } ?? .null])
    }
    var data = common(lease)
    data["version"] = .string(postback.version.rawValue)
    data["environment"] = .string((verdict.environment ?? .production).rawValue)
    data["keyId"] = .string(verdict.keyId ?? "")
    data["transactionId"] = .string(postback.transactionId)
    data["postback"] = .object(postback.typed)
    data["unsigned"] = .object(postback.unsignedValues)
    data["tierAtLeast"] = postback.privacy.map { .integer($0.tierAtLeast) }
    data["withheld"] = .array(postback.withheld.map { .string($0) })
    data["conversion"] = meanings.conversion(
      app: postback.appId, fine: postback.conversionValue, coarse: postback.coarseConversionValue,
      window: postback.postbackSequenceIndex, receivedAt: lease.message.receivedAt
    ).map { .object($0) }
    data["placement"] = meanings.source(
      adNetworkId: postback.adNetworkId, sourceIdentifier: postback.sourceIdentifier, campaignId: postback.campaignId
    ).map { .object($0) }
    return verified(lease, .skadnetworkPostbackVerified, naturalKey, subject: postback.adNetworkId, data)
  }

  private func adAttributionKit(_ lease: LeasedMessage) -> WorkOutcome {
    let verdict = postbacks.verdict(onAdAttributionKit: lease.message.body, expecting: expectedAdNetwork(lease))
    guard verdict.valid, let postback = verdict.postback, let naturalKey = verdict.naturalKey else {
      return rejected(
        lease, .adAttributionKitPostbackRejected, reason: verdict.reason?.rawValue ?? "malformed", field: verdict.field,
        subject: nil,
        more: [:])
    }
    var data = common(lease)
    data["environment"] = .string((verdict.environment ?? .development).rawValue)
    data["keyId"] = .string(verdict.keyId ?? "")
    data["postback"] = .object(postback.typed)
    data["unsigned"] = .object(postback.unsignedValues)
    data["tierAtLeast"] = .integer(postback.privacy.tierAtLeast)
    data["withheld"] = .array(postback.privacy.withheld.map { .string($0) })
    data["conversion"] = meanings.conversion(
      app: postback.advertisedItemIdentifier, fine: postback.conversionValue, coarse: postback.coarseConversionValue,
      window: postback.postbackSequenceIndex, receivedAt: lease.message.receivedAt
    ).map { .object($0) }
    data["placement"] = meanings.source(
      adNetworkId: postback.adNetworkIdentifier, sourceIdentifier: postback.sourceIdentifier, campaignId: nil
    ).map { .object($0) }
    return verified(lease, .adAttributionKitPostbackVerified, naturalKey, subject: postback.adNetworkIdentifier, data)
  }

  /// The ad network whose URL the postback came to, where it came to one's own.
  private func expectedAdNetwork(_ lease: LeasedMessage) -> Set<String>? {
    lease.message.attributes["expectedAdNetworkId"].map { [$0] }
  }

  // MARK: Notifications

  private func notification(_ lease: LeasedMessage) async -> WorkOutcome {
    if lease.message.attributes["version"] == "1" {
      return rejected(lease, .notificationRejected, reason: "unsupported_version", field: nil, subject: nil, more: [:])
    }
    let text = String(decoding: lease.message.body, as: UTF8.self)
    let verdict = await signedData.verdict(on: text, kind: .notification, now: WallClock.now)
    if verdict.reason == .revocationUnknown {
      return .retry(after: nil, error: "whether a certificate was revoked is not known now")
    }
    guard verdict.valid, let payload = verdict.payload, let uuid = payload["notificationUUID"]?.stringValue,
      let environment = verdict.environment
    else {
      let claimed = NotificationSniffer(signedPayload: text)
      var more: JSONObject = [:]
      more["environment"] = verdict.environment.map { .string($0) }
      more["claimedNotificationUUID"] = claimed.notificationUUID.map { .string($0) }
      return rejected(
        lease, .notificationRejected, reason: verdict.reason?.rawValue ?? "malformed", field: verdict.field,
        subject: nil, more: more)
    }
    var data = common(lease)
    data["environment"] = .string(environment)
    for name in ["notificationType", "subtype", "notificationUUID", "signedDate"] { data[name] = payload[name] }
    data["payload"] = .object(payload)
    data["transactionInfo"] = verdict.transactionInfo.map { .object($0) }
    data["renewalInfo"] = verdict.renewalInfo.map { .object($0) }
    data["appTransactionInfo"] = verdict.appTransactionInfo.map { .object($0) }
    let app = ["data", "appData", "summary", "externalPurchaseToken"].lazy.compactMap {
      payload[$0]?["bundleId"]?.stringValue
    }.first
    do {
      data["lifecycle"] = try await lifecycle.take(
        payload, transactionInfo: verdict.transactionInfo, renewalInfo: verdict.renewalInfo, environment: environment, bundleId: app,
        receivedAt: lease.message.receivedAt
      ).map { .object($0) }
    } catch {
      return .retry(after: nil, error: "the subscription's history cannot be written")
    }
    return verified(
      lease, .notificationVerified, NotificationSniffer.naturalKey(environment: environment, notificationUUID: uuid),
      subject: app, data,
      rememberLong: true)
  }

  /// A gap that was suspected a while ago: published unless a straggler has explained it.
  private func gap(_ lease: LeasedMessage) async -> WorkOutcome {
    do {
      guard let found = try await lifecycle.judge(lease.message.body) else {
        return .complete(Completion(state: .done, events: [], reason: "explained"))
      }
      let event = CloudEvent(
        id: found.key, source: Self.source, type: .subscriptionGap, subject: found.subject,
        time: Timestamp(millisecondsSince1970: WallClock.now), data: found.data)
      return .complete(
        Completion(
          state: .done, naturalKey: found.key, rememberLong: true,
          events: [EventRecord(id: event.id, type: event.type, json: event.json)]))
    } catch {
      return .retry(after: nil, error: "the subscription's history cannot be read")
    }
  }

  // MARK: Events

  private func common(_ lease: LeasedMessage) -> JSONObject {
    var data: JSONObject = [
      "deliveryId": .string(lease.deliveryID.description), "source": .string(lease.message.source),
      "receivedAt": .string(Timestamp(millisecondsSince1970: lease.message.receivedAt).text),
    ]
    data["traceparent"] = lease.message.traceparent.map { .string($0) }
    return data
  }

  private func verified(
    _ lease: LeasedMessage, _ type: EventType, _ naturalKey: String, subject: String?, _ data: JSONObject,
    rememberLong: Bool = false
  ) -> WorkOutcome {
    let event = CloudEvent(
      id: naturalKey, source: Self.source, type: type, subject: subject,
      time: Timestamp(millisecondsSince1970: WallClock.now), data: data)
    return .complete(
      Completion(
        state: .verified, naturalKey: naturalKey, rememberLong: rememberLong,
        events: [EventRecord(id: event.id, type: event.type, json: event.json)]))
  }

  /// Rejected is data: the reason and a digest of the bytes, never the natural key, which a forgery has no right to.
  private func rejected(
    _ lease: LeasedMessage, _ type: EventType, reason: String, field: String?, subject: String?, more: JSONObject
  ) -> WorkOutcome {
    var data = common(lease)
    data["reason"] = .string(reason)
    data["field"] = field.map { .string($0) }
    data["bodySHA256"] = .string(Hex.encode(SHA256Digest.hash(lease.message.body)))
    for member in more.members where !member.value.isNull { data[member.key] = member.value }
    let event = CloudEvent(
      id: "rejected:\(lease.deliveryID)", source: Self.source, type: type, subject: subject,
      time: Timestamp(millisecondsSince1970: WallClock.now), data: data)
    return .complete(
      Completion(
        state: .rejected, events: [EventRecord(id: event.id, type: event.type, json: event.json)], reason: reason))
  }
}
