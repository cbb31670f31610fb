import AppStore
import AppleAttribution
import AttributionProtocol
import AttributionQueue
import Cryptography
import Logging
import PublicSuffixes
import ServiceRuntime
import WireJSON

/// Makes one event of each delivery of the intake queue: proved, or rejected with its reason.
final class VerificationWorker: Sendable {
  private static let source = "/verifier"
  let deliveries: DeliveryQueue
  let postbacks: PostbackVerifier
  let signedData: RevocationCheckedVerifier
  let lifecycle: SubscriptionLifecycle
  let observations: ObservationWork
  let meanings: PostbackMeanings
  /// What the sites of web ads are looked up in; nil where events say nothing of that.
  let suffixes: PublicSuffixList?
  let arrivals: ProvedArrivals
  let metrics: MetricsRegistry
  let proved: ProvedCount

  init(
    deliveries: DeliveryQueue, postbacks: PostbackVerifier, signedData: RevocationCheckedVerifier, lifecycle: SubscriptionLifecycle,
    observations: ObservationWork, meanings: PostbackMeanings, suffixes: PublicSuffixList?, arrivals: ProvedArrivals,
    metrics: MetricsRegistry
  ) {
    self.deliveries = deliveries
    self.postbacks = postbacks
    self.signedData = signedData
    self.lifecycle = lifecycle
    self.observations = observations
    self.meanings = meanings
    self.suffixes = suffixes
    self.arrivals = arrivals
    self.metrics = metrics
    proved = ProvedCount(metrics)
    Self.declare(metrics)
  }

  private static let rejections = "attribution_rejected_total"
  static let delay = "attribution_notification_delay_seconds"

  private static func declare(_ metrics: MetricsRegistry) {
    metrics.counter(rejections, help: "Deliveries that were rejected.", labels: ["kind", "reason"])
    // Past half an hour it was no first delivery: a retry of Apple's, a recovery, or an outage.
    metrics.histogram(
      delay, help: "From Apple's signing of a notification to its receipt.", labels: ["environment"],
      bounds: [1, 10, 60, 300, 1800, 3600, 21_600, 86_400, 604_800])
  }

  func handle(_ lease: LeasedMessage) async -> WorkOutcome {
    switch lease.message.kind {
    case PostbackKind.skAdNetwork.rawValue: return skAdNetwork(lease)
    case PostbackKind.adAttributionKit.rawValue: return adAttributionKit(lease)
    case "notification": return notification(lease)
    case SubscriptionLifecycle.gapKind: return await gap(lease)
    case StatusObservation.kind: return await observations.status(lease)
    case TransactionObservation.kind: return await observations.transaction(lease)
    case RetentionRecord.kind: return retention(lease)
    default: return .deadLetter(error: "unknown kind of delivery")
    }
  }

  // MARK: Postbacks

  private func skAdNetwork(_ lease: LeasedMessage) -> WorkOutcome {
    var verdict = postbacks.verdict(onSKAdNetwork: lease.message.body, expecting: expectedAdNetwork(lease))
    guard verdict.valid, let postback = verdict.postback.take(), let naturalKey = verdict.naturalKey else {
      return rejected(
        lease, .skadnetworkPostbackRejected, reason: verdict.reason?.rawValue ?? "malformed", field: verdict.field,
        subject: nil, more: ["version": verdict.version.map { .string($0) } ?? .null])
    }
    let environment = verdict.environment ?? .production
    let conversion = meanings.conversion(
      app: postback.appId, environment: environment, isWinning: postback.isWinning, fine: postback.conversionValue,
      coarse: postback.coarseConversionValue, window: postback.postbackSequenceIndex, receivedAt: lease.message.receivedAt)
    let placement = meanings.source(
      adNetworkId: postback.adNetworkId, sourceIdentifier: postback.sourceIdentifier, campaignId: postback.campaignId)
    let (privacy, unsigned) = (postback.privacy, postback.unsignedValues)
    // Most of all deliveries are of this kind: the event is written as it is, without a tree of it.
    let event = CloudEvent.json(
      id: naturalKey, source: Self.source, type: .skadnetworkPostbackVerified, subject: postback.adNetworkId, time: Self.now
    ) { writer in
      writer.beginObject()
      writeCommon(lease, &writer)
      writer.key("version")
      writer.string(postback.version.rawValue)
      writer.key("environment")
      writer.string(environment.rawValue)
      writer.key("keyId")
      writer.string(verdict.keyId ?? "")
      writer.key("transactionId")
      writer.string(postback.transactionId)
      writer.key("postback")
      postback.writeTyped(to: &writer)
      writer.key("unsigned")
      writer.object(unsigned)
      if let privacy {
        writer.key("tierAtLeast")
        writer.int(privacy.tierAtLeast)
      }
      writer.key("withheld")
      writer.beginArray()
      for name in postback.withheld { writer.string(name) }
      writer.endArray()
      if let conversion {
        writer.key("conversion")
        writer.object(conversion)
      }
      if let placement {
        writer.key("placement")
        writer.object(placement)
      }
      if let domain = postback.sourceDomain, let suffixes {
        writer.key("sourceDomain")
        writer.object(Self.reading(of: domain, suffixes))
      }
      writer.endObject()
    }
    return verified(
      lease, .skadnetworkPostbackVerified, naturalKey, event,
      Self.counted(
        app: postback.appId, environment, isWinning: postback.isWinning, fine: postback.conversionValue,
        coarse: postback.coarseConversionValue, adNetworkId: postback.adNetworkId,
        source: postback.sourceIdentifier ?? postback.campaignId.map { String($0) }),
      EventAttributes(adNetworkId: postback.adNetworkId, appAppleId: postback.appId, environment: environment.rawValue),
      unsigned: unsigned, otherwise: .skadnetworkPostbackRejected)
  }

  private func adAttributionKit(_ lease: LeasedMessage) -> WorkOutcome {
    let verdict = postbacks.verdict(onAdAttributionKit: lease.message.body, expecting: expectedAdNetwork(lease))
    guard verdict.valid, let postback = verdict.postback, let naturalKey = verdict.naturalKey else {
      return rejected(
        lease, .adAttributionKitPostbackRejected, reason: verdict.reason?.rawValue ?? "malformed", field: verdict.field,
        subject: nil,
        // A fault that is found in its claims is found after the proof: then it is known whose it is.
        more: verdict.reason == .malformed || verdict.reason == .wrongAdNetwork
          ? ["environment": verdict.environment.map { .string($0.rawValue) } ?? .null] : [:])
    }
    let environment = verdict.environment ?? .development
    var data = common(lease)
    data["environment"] = .string(environment.rawValue)
    data["keyId"] = .string(verdict.keyId ?? "")
    data["postback"] = .object(postback.typed)
    data["unsigned"] = .object(postback.unsignedValues)
    data["tierAtLeast"] = .integer(postback.privacy.tierAtLeast)
    data["withheld"] = .array(postback.privacy.withheld.map { .string($0) })
    data["conversion"] = meanings.conversion(
      app: postback.advertisedItemIdentifier, environment: environment, isWinning: postback.didWin, fine: postback.conversionValue,
      coarse: postback.coarseConversionValue, window: postback.postbackSequenceIndex, receivedAt: lease.message.receivedAt
    ).map { .object($0) }
    data["placement"] = meanings.source(
      adNetworkId: postback.adNetworkIdentifier, sourceIdentifier: postback.sourceIdentifier, campaignId: nil
    ).map { .object($0) }
    let event = event(naturalKey, .adAttributionKitPostbackVerified, subject: postback.adNetworkIdentifier, data)
    return verified(
      lease, .adAttributionKitPostbackVerified, naturalKey, event,
      Self.counted(
        app: postback.advertisedItemIdentifier, environment, isWinning: postback.didWin, fine: postback.conversionValue,
        coarse: postback.coarseConversionValue, adNetworkId: postback.adNetworkIdentifier, source: postback.sourceIdentifier),
      EventAttributes(
        adNetworkId: postback.adNetworkIdentifier, appAppleId: postback.advertisedItemIdentifier, environment: environment.rawValue),
      unsigned: postback.unsignedValues, otherwise: .adAttributionKitPostbackRejected)
  }

  /// What the public suffix list says of the site that showed an ad. Apple signed it, so it decides nothing.
  private static func reading(of domain: String, _ suffixes: PublicSuffixList) -> JSONObject {
    var reading: JSONObject = ["registrable": .bool(suffixes.isRegistrable(domain))]
    reading["registrableDomain"] = suffixes.registrableDomain(of: domain).map { .string($0) }
    return reading
  }

  /// The ad network whose URL the postback came to, where it came to one's own.
  private func expectedAdNetwork(_ lease: LeasedMessage) -> Set<String>? {
    lease.message.attributes["expectedAdNetworkId"].map { [$0] }
  }

  /// What a postback says, for plots. Development postbacks are left out: any device in Developer Mode can make one of any app.
  private static func counted(
    app: Int64, _ environment: PostbackEnvironment, isWinning: Bool, fine: Int?, coarse: CoarseConversionValue?, adNetworkId: String,
    source: String?
  ) -> [CountedValue] {
    guard environment == .production else { return [] }
    var values: [CountedValue] = []
    // Beside an ad that did not win a value is not signed.
    if isWinning, let fine {
      values.append(.fine(app: app, fine))
    } else if isWinning, let coarse {
      values.append(.coarse(app: app, coarse.rawValue))
    } else {
      values.append(.noConversion(app: app))
    }
    if let source { values.append(.source(adNetworkId: adNetworkId, source)) }
    return values
  }

  // MARK: Events

  func common(_ lease: LeasedMessage) -> JSONObject {
    var data: JSONObject = [
      "deliveryId": .string(lease.deliveryID.description), "source": .string(lease.message.source),
      "receivedAt": .string(Timestamp(millisecondsSince1970: lease.message.receivedAt).text),
    ]
    data["traceparent"] = lease.traceparent.map { .string($0) }
    return data
  }

  /// Writes the members of ``common(_:)``.
  private func writeCommon(_ lease: LeasedMessage, _ writer: inout JSONWriter) {
    writer.key("deliveryId")
    writer.string(lease.deliveryID.description)
    writer.key("source")
    writer.string(lease.message.source)
    writer.key("receivedAt")
    writer.string(Timestamp(millisecondsSince1970: lease.message.receivedAt).text)
    if let traceparent = lease.traceparent {
      writer.key("traceparent")
      writer.string(traceparent)
    }
  }

  private static var now: Timestamp { Timestamp(millisecondsSince1970: WallClock.now()) }

  func event(_ id: String, _ type: EventType, subject: String?, _ data: JSONObject) -> [UInt8] {
    CloudEvent.json(id: id, source: Self.source, type: type, subject: subject, time: Self.now) { $0.object(data) }
  }

  /// A postback that was proved.
  ///
  /// - Parameter conflict: the type of the event when the same signed postback was counted with other unsigned values.
  private func verified(
    _ lease: LeasedMessage, _ type: EventType, _ naturalKey: String, _ event: [UInt8], _ counted: [CountedValue],
    _ attributes: EventAttributes, unsigned: JSONObject, otherwise conflict: EventType
  ) -> WorkOutcome {
    proved.add(lease.message.kind, attributes.environment ?? "")
    var completion = Completion(
      state: .verified, naturalKey: naturalKey,
      events: [EventRecord(id: naturalKey, type: type.rawValue, json: event, attributes: attributes)])
    if deliveries.configuration.unsignedDigests { completion.detail = unsigned.canonical }
    completion.keepsOriginal = true
    completion.countedValues = counted
    completion.whenSeen = { await self.seen(lease, naturalKey, attributes, unsigned: unsigned, conflict) }
    return .complete(completion)
  }

  /// The same signed postback was counted already. Its holder can send it again with other unsigned values: the first counts, and
  /// what differs is told.
  private func seen(
    _ lease: LeasedMessage, _ naturalKey: String, _ attributes: EventAttributes, unsigned values: JSONObject, _ type: EventType
  ) async -> WorkOutcome {
    var duplicate = Completion(state: .verified, events: [], recordedEventId: naturalKey)
    duplicate.reason = "duplicate"
    duplicate.word = "duplicate"
    let counted: [UInt8]?
    var kept = DetailFinding.unknown
    do throws(QueueError) {
      counted = try await deliveries.publishedEvent(naturalKey, besides: lease)
      if counted == nil, deliveries.configuration.unsignedDigests {
        kept = try await deliveries.detail(values.canonical, of: naturalKey, besides: lease)
      }
    } catch {
      return .retry(after: .milliseconds(500), error: "what was counted cannot be read")
    }
    guard let counted else {
      // The feed has dropped it.
      guard kept == .other else { return .complete(duplicate) }
      return rejected(
        lease, type, reason: Self.conflict, field: nil, subject: attributes.adNetworkId, attributes: attributes,
        more: ["countedEventId": .string(naturalKey), "unsigned": .object(values)])
    }
    guard let first = try? JSONValue(parsing: counted, limits: .ownDocuments), let firstValues = first["data"]?["unsigned"]?.objectValue
    else {
      return .deadLetter(error: "the event that was counted cannot be compared with")
    }
    guard values != firstValues else { return .complete(duplicate) }
    return rejected(
      lease, type, reason: Self.conflict, field: nil, subject: attributes.adNetworkId, attributes: attributes,
      more: [
        "countedEventId": .string(naturalKey), "countedUnsigned": .object(firstValues), "unsigned": .object(values),
      ])
  }

  private static let conflict = "conflicting_unsigned"
  /// Reasons that lie in our configuration, keys or clock: once that is mended, the same bytes may be accepted again.
  private static let passing: Set<String> = [
    PostbackReason.unknownKey.rawValue, PostbackReason.unsupportedVersion.rawValue, SignedDataReason.wrongApp.rawValue,
    SignedDataReason.wrongEnvironment.rawValue, SignedDataReason.chainInvalid.rawValue,
  ]

  /// Rejected is data: the reason and a digest of the bytes, never the natural key, which a forgery has no right to.
  ///
  /// - Parameter attributes: what was proved of it nevertheless; the environment that `more` has where nothing is said.
  func rejected(
    _ lease: LeasedMessage, _ type: EventType, reason: String, field: String?, subject: String?, attributes: EventAttributes? = nil,
    more: JSONObject
  ) -> WorkOutcome {
    var data = common(lease)
    data["reason"] = .string(reason)
    data["field"] = field.map { .string($0) }
    data["bodySHA256"] = .string(Hex.encode(SHA256Digest.hash(lease.message.body)))
    for member in more.members where !member.value.isNull { data[member.key] = member.value }
    let id = "rejected:\(lease.deliveryID)"
    var completion = Completion(
      state: .rejected,
      events: [
        EventRecord(
          id: id, type: type.rawValue, json: event(id, type, subject: subject, data),
          attributes: attributes ?? EventAttributes(environment: more["environment"]?.stringValue))
      ], reason: reason)
    completion.keepsBody = true
    completion.keepsOriginal = true
    completion.mayBeJudgedAnew = Self.passing.contains(reason)
    metrics.add(Self.rejections, 1, [lease.message.kind, reason])
    return .complete(completion)
  }
}
