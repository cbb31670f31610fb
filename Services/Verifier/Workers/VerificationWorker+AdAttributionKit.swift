import AppleAttribution
import AttributionProtocol
import AttributionQueue
import WireJSON

/// AdAttributionKit postbacks.
extension VerificationWorker {
  /// Verifies a postback and publishes it, or rejects it.
  func adAttributionKit(_ lease: LeasedMessage) -> WorkOutcome {
    let verdict = postbacks.verdict(onAdAttributionKit: lease.message.body, expecting: expectedAdNetwork(lease))
    guard verdict.valid, let postback = verdict.postback, let naturalKey = verdict.naturalKey else {
      return rejected(
        lease, .adAttributionKitPostbackRejected, reason: verdict.reason?.rawValue ?? "malformed", field: verdict.field,
        subject: nil,
        // The claims are checked after the signature. If one of them is wrong, Apple's key still shows the environment.
        more: verdict.reason == .malformed || verdict.reason == .wrongAdNetwork
          ? ["environment": verdict.environment.map { .string($0.rawValue) } ?? .null] : [:])
    }
    let environment = verdict.environment ?? .development
    var data = common(lease)
    data["environment"] = .string(environment.rawValue)
    data["keyId"] = .string(verdict.keyId ?? "")
    data["postback"] = .object(postback.typed(foreign: foreignMembers))
    data["unsigned"] = .object(postback.unsigned.received)
    data["unusable"] = .array(postback.unsigned.unusable.map { .string($0) })
    data["tierAtLeast"] = .integer(postback.privacy.tierAtLeast)
    data["withheld"] = .array(postback.privacy.withheld.map { .string($0) })
    data["conversion"] = meanings.conversion(
      app: postback.advertisedItemIdentifier, environment: environment, isWinning: postback.didWin,
      fine: postback.unsigned.conversionValue, coarse: postback.unsigned.coarseConversionValue, window: postback.postbackSequenceIndex,
      receivedAt: lease.message.receivedAt
    ).map { .object($0) }
    data["placement"] = meanings.source(
      adNetworkId: postback.adNetworkIdentifier, sourceIdentifier: postback.sourceIdentifier, campaignId: nil
    ).map { .object($0) }
    let event = event(naturalKey, .adAttributionKitPostbackVerified, subject: postback.adNetworkIdentifier, data)
    return verified(
      lease, .adAttributionKitPostbackVerified, claiming: naturalKey, event,
      Self.counted(
        app: postback.advertisedItemIdentifier, environment, isWinning: postback.didWin, unsigned: postback.unsigned,
        window: postback.postbackSequenceIndex, adNetworkId: postback.adNetworkIdentifier,
        source: postback.sourceIdentifier),
      EventAttributes(
        adNetworkId: postback.adNetworkIdentifier, appAppleId: postback.advertisedItemIdentifier, environment: environment.rawValue),
      adNetworkId: postback.adNetworkIdentifier, unsigned: postback.unsigned, otherwise: .adAttributionKitPostbackRejected)
  }
}
