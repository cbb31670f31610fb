import AppleAttribution
import AttributionProtocol
import AttributionQueue
import PublicSuffixes
import WireJSON

/// SKAdNetwork postbacks.
extension VerificationWorker {
  /// Handles several SKAdNetwork postbacks in one call, because verifying their signatures together takes less time. Most deliveries are
  /// SKAdNetwork postbacks.
  var batchHandler: ShardWorker.BatchHandler {
    ShardWorker.BatchHandler(accepts: { $0.message.kind == PostbackKind.skAdNetwork.rawValue }, outcomes: skAdNetwork)
  }

  /// Verifies postbacks and publishes or rejects them. Returns the outcomes in the order of the messages.
  func skAdNetwork(_ leases: [LeasedMessage]) -> [WorkOutcome] {
    var verdicts = postbacks.verdicts(onSKAdNetwork: leases.map { ($0.message.body, expectedAdNetwork($0)) })
    return leases.indices.map { outcome(of: leases[$0], &verdicts[$0]) }
  }

  /// The outcome for a verdict. Only a valid verdict leads to `verified`, which claims the natural key, so a forged postback claims none.
  /// The postback is moved out of the verdict, which avoids a copy.
  private func outcome(of lease: LeasedMessage, _ verdict: inout SKAdNetworkVerdict) -> WorkOutcome {
    guard verdict.valid, let postback = verdict.postback.take(), let naturalKey = verdict.naturalKey else {
      return rejected(
        lease, .skadnetworkPostbackRejected, reason: verdict.reason?.rawValue ?? "malformed", field: verdict.field,
        subject: nil,
        // The environment is known only if the signature is Apple's. Then the ad network is the reason for the rejection.
        more: [
          "version": verdict.version.map { .string($0) } ?? .null,
          "environment": verdict.environment.map { .string($0.rawValue) } ?? .null,
        ])
    }
    let environment = verdict.environment ?? .production
    let conversion = meanings.conversion(
      app: postback.appId, environment: environment, isWinning: postback.isWinning,
      fine: postback.unsigned.conversionValue, coarse: postback.unsigned.coarseConversionValue, window: postback.postbackSequenceIndex,
      receivedAt: lease.message.receivedAt)
    let placement = meanings.source(
      adNetworkId: postback.adNetworkId, sourceIdentifier: postback.sourceIdentifier, campaignId: postback.campaignId)
    let (privacy, unsigned) = (postback.privacy, postback.unsigned)
    // Most deliveries are of this kind, so the event is written directly as bytes. The other events are built as a `JSONObject` first.
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
      postback.writeTyped(to: &writer, foreign: foreignMembers)
      writer.key("unsigned")
      writer.object(unsigned.received)
      writer.key("unusable")
      writer.beginArray()
      for name in unsigned.unusable { writer.string(name) }
      writer.endArray()
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
      lease, .skadnetworkPostbackVerified, claiming: naturalKey, event,
      Self.counted(
        app: postback.appId, environment, isWinning: postback.isWinning, unsigned: unsigned,
        window: postback.postbackSequenceIndex, adNetworkId: postback.adNetworkId,
        source: postback.sourceIdentifier ?? postback.campaignId.map { String($0) }),
      EventAttributes(adNetworkId: postback.adNetworkId, appAppleId: postback.appId, environment: environment.rawValue),
      adNetworkId: postback.adNetworkId, unsigned: unsigned, otherwise: .skadnetworkPostbackRejected)
  }

  /// What the public suffix list says about the site that showed an ad: its registrable domain, and whether the site's name is itself a
  /// registrable domain. The result does not affect the verdict, because Apple signed the name.
  private static func reading(of domain: String, _ suffixes: PublicSuffixList) -> JSONObject {
    var reading: JSONObject = ["registrable": .bool(suffixes.isRegistrable(domain))]
    reading["registrableDomain"] = suffixes.registrableDomain(of: domain).map { .string($0) }
    return reading
  }

  /// Writes the same members as ``common(_:)`` returns.
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
    if let earlier = lease.message.earlierRejection {
      writer.key("reverificationOf")
      writer.string(earlier.eventId)
    }
  }
}
