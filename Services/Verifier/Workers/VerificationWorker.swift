import AppStore
import AppleAttribution
import AttributionProtocol
import AttributionQueue
import Cryptography
import Logging
import PublicSuffixes
import ServiceRuntime
import WireJSON

/// Works the queue `intake`: verifies each delivery, and publishes an event about it, as verified or as rejected with a reason. A
/// `ShardWorker` calls ``handle(_:)`` for a message, or ``batchHandler`` for several.
///
/// The files `VerificationWorker+….swift` contain a kind of delivery each; ``ObservationWork`` handles what was looked up at Apple. A
/// repeat of a verified postback or notification publishes no second event.
final class VerificationWorker: Sendable {
  static let source = "/verifier"
  let deliveries: DeliveryQueue
  let postbacks: PostbackVerifier
  let signedData: RevocationCheckedVerifier
  let lifecycle: SubscriptionLifecycle
  let purchases: OneTimePurchases
  let observations: ObservationWork
  let meanings: PostbackMeanings
  /// The names of the foreign members of postbacks that events contain (`postbacks.foreignMembers`).
  let foreignMembers: Set<String>
  /// The public suffix list, for the sites that showed web ads; nil if events do not contain registrable domains (`webAds.postbacks`).
  let suffixes: PublicSuffixList?
  let arrivals: VerifiedArrivals
  let metrics: MetricsRegistry
  let verifiedMetric: VerifiedMetric

  init(
    deliveries: DeliveryQueue, postbacks: PostbackVerifier, signedData: RevocationCheckedVerifier, lifecycle: SubscriptionLifecycle,
    purchases: OneTimePurchases, observations: ObservationWork, meanings: PostbackMeanings, foreignMembers: Set<String>,
    suffixes: PublicSuffixList?, arrivals: VerifiedArrivals, metrics: MetricsRegistry
  ) {
    self.deliveries = deliveries
    self.postbacks = postbacks
    self.signedData = signedData
    self.lifecycle = lifecycle
    self.purchases = purchases
    self.observations = observations
    self.meanings = meanings
    self.foreignMembers = foreignMembers
    self.suffixes = suffixes
    self.arrivals = arrivals
    self.metrics = metrics
    verifiedMetric = VerifiedMetric(metrics)
    Self.declare(metrics)
  }

  private static let rejections = "attribution_rejected_total"
  static let delay = "attribution_notification_delay_seconds"

  private static func declare(_ metrics: MetricsRegistry) {
    metrics.counter(rejections, help: "Deliveries that were rejected.", labels: ["kind", "reason", "environment"])
    // A notification that is received more than half an hour after its signature is not Apple's first attempt, but a retry or a recovery.
    metrics.histogram(
      delay, help: "Time from Apple's signature of a notification to its receipt.", labels: ["environment"],
      bounds: [1, 10, 60, 300, 1800, 3600, 21_600, 86_400, 604_800])
  }

  /// Decides the outcome of a message by its kind.
  func handle(_ lease: LeasedMessage) async -> WorkOutcome {
    switch lease.message.kind {
    case PostbackKind.skAdNetwork.rawValue: return skAdNetwork([lease])[0]
    case PostbackKind.adAttributionKit.rawValue: return adAttributionKit(lease)
    case NotificationMessage.kind: return notification(lease)
    case SubscriptionLifecycle.gapKind: return await gap(lease)
    case StatusObservation.kind: return await observations.status(lease)
    case TransactionObservation.kind: return await observations.transaction(lease)
    case RetentionRecord.kind: return retention(lease)
    default: return .deadLetter(error: "the kind of the delivery is unknown")
    }
  }

  // MARK: Events

  /// The members with which the data of an event about a delivery begins.
  func common(_ lease: LeasedMessage) -> JSONObject {
    var data: JSONObject = [
      "deliveryId": .string(lease.deliveryID.description), "source": .string(lease.message.source),
      "receivedAt": .string(Timestamp(millisecondsSince1970: lease.message.receivedAt).text),
    ]
    data["traceparent"] = lease.traceparent.map { .string($0) }
    data["reverificationOf"] = lease.message.earlierRejection.map { .string($0.eventId) }
    return data
  }

  /// The ad network that the URL named; nil for a URL that names none.
  func expectedAdNetwork(_ lease: LeasedMessage) -> Set<String>? {
    lease.message.attributes[PostbackKind.expectedAdNetworkAttribute].map { [$0] }
  }

  /// The present time.
  static var now: Timestamp { Timestamp(millisecondsSince1970: WallClock.now()) }

  /// An event in CloudEvents' JSON format.
  func event(_ id: String, _ type: EventType, subject: String?, _ data: JSONObject) -> [UInt8] {
    CloudEvent.json(id: id, source: Self.source, type: type, subject: subject, time: Self.now) { $0.object(data) }
  }

  /// Reasons that may be temporary: our configuration, keys or clock can cause them, or Apple's answer about a certificate. After a
  /// correction, the same bytes may be accepted.
  private static let temporaryReasons: Set<String> = [
    PostbackReason.unknownKey.rawValue, PostbackReason.unsupportedVersion.rawValue, SignedDataReason.wrongApp.rawValue,
    SignedDataReason.appNotNamed.rawValue, SignedDataReason.wrongEnvironment.rawValue, SignedDataReason.chainInvalid.rawValue,
    SignedDataReason.certificateRevoked.rawValue,
  ]

  /// Publishes a rejection with its reason and a digest of the bytes, but never with the natural key, because a forged delivery must not
  /// claim it. If the delivery is judged again, only another reason than before is published.
  ///
  /// - Parameters:
  ///   - attributes: the attributes of the event that are verified although the delivery is rejected; by default the environment in `more`.
  ///   - more: further members of the event's data. Members with the value null are left out.
  func rejected(
    _ lease: LeasedMessage, _ type: EventType, reason: String, field: String?, subject: String?, attributes: EventAttributes? = nil,
    more: JSONObject
  ) -> WorkOutcome {
    var data = common(lease)
    data["reason"] = .string(reason)
    data["field"] = field.map { .string($0) }
    data["bodySHA256"] = .string(Hex.encode(SHA256Digest.hash(lease.message.body)))
    for member in more.members where !member.value.isNull { data[member.key] = member.value }
    let environment = more["environment"]?.stringValue
    var completion = Completion(state: .rejected, events: [], reason: reason)
    completion.keptBody = KeptBody(environment: Self.bodyClass(environment))
    completion.mayBeAcceptedAgain = Self.temporaryReasons.contains(reason)
    let earlier = lease.message.earlierRejection
    if let earlier, earlier.reason == reason {
      completion.recordedEventId = earlier.eventId
      return .complete(completion)
    }
    let id = Self.eventId(rejecting: lease.deliveryID, after: earlier)
    completion.events = [
      EventRecord(
        id: id, type: type.rawValue, json: event(id, type, subject: subject, data),
        attributes: attributes ?? EventAttributes(environment: environment))
    ]
    completion.keepsOriginal = true
    // The environment is known only if Apple signed the data, or if it is accepted as data of Xcode. So nobody else can create series with
    // other values of this label.
    metrics.add(Self.rejections, 1, [lease.message.kind, reason, environment ?? ""])
    return .complete(completion)
  }

  /// The environments of which each is a class of kept bodies.
  private static let bodyClasses: Set<String> = ["Production", "Sandbox", "Xcode", "LocalTesting", "production", "development"]

  /// The class of the kept body of a rejected delivery: its environment, `other` for one that is not known, and empty without one. Signed
  /// data may name any text as its environment, and there are few classes, with plain names.
  private static func bodyClass(_ environment: String?) -> String {
    guard let environment, !environment.isEmpty else { return "" }
    return bodyClasses.contains(environment) ? environment : "other"
  }

  /// The id of the event of a rejection: `rejected:` and the delivery's id; if a delivery that was judged again is rejected for another reason,
  /// with a number from 2 on.
  static func eventId(rejecting delivery: DeliveryID, after earlier: EarlierRejection?) -> String {
    let first = "rejected:\(delivery)"
    guard let earlier else { return first }
    return "\(first):\((Int(earlier.eventId.dropFirst(first.count + 1)) ?? 1) + 1)"
  }
}
