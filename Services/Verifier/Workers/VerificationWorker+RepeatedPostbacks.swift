import AppleAttribution
import AttributionProtocol
import AttributionQueue
import WireJSON

/// A verified postback counts once: the first one publishes the event, and a repeat is a duplicate or, with other unsigned values, a
/// conflict. Both ``skAdNetwork(_:)`` and ``adAttributionKit(_:)`` end with ``verified(_:_:claiming:_:_:_:adNetworkId:unsigned:otherwise:)``.
extension VerificationWorker {
  /// The reason with which a repeat with other unsigned values is rejected.
  static let conflict = "conflicting_unsigned"

  /// The outcome for a verified postback. If its natural key is new, the event is published in the feed of the message's shard, in the
  /// atomic step that claims the key and removes the message (``Settlement``, usually by commit_plain.lua); otherwise
  /// ``seen(_:_:_:adNetworkId:unsigned:_:)`` decides. Only a verified postback claims its natural key, so that a forged one cannot take the
  /// place of a genuine one.
  ///
  /// - Parameters:
  ///   - adNetworkId: the ad network as the postback writes it.
  ///   - unsigned: the values of the postback that Apple does not sign. Those that cannot be used are the same as none, so they cause no
  ///     conflict.
  ///   - conflict: the type of the event if this postback was published before with other unsigned values.
  func verified(
    _ lease: LeasedMessage, _ type: EventType, claiming naturalKey: String, _ event: [UInt8], _ counted: [CountedValue],
    _ attributes: EventAttributes, adNetworkId: String, unsigned: UnsignedValues, otherwise conflict: EventType
  ) -> WorkOutcome {
    verifiedMetric.add(lease.message.kind, attributes.environment ?? "")
    var completion = Completion(
      state: .verified, naturalKey: naturalKey,
      events: [EventRecord(id: naturalKey, type: type.rawValue, json: event, attributes: attributes)])
    if deliveries.configuration.unsignedDigests { completion.detail = unsigned.usable.canonical }
    completion.keepsOriginal = true
    completion.countedValues = counted
    completion.whenClaimedBefore = {
      await self.seen(lease, naturalKey, attributes, adNetworkId: adNetworkId, unsigned: unsigned, conflict)
    }
    return .complete(completion)
  }

  /// Decides about a signed postback whose natural key was claimed before. Anyone who has a genuine postback can send it again with other
  /// unsigned values, such as the conversion value. The first values count, and other values are published as a conflict.
  private func seen(
    _ lease: LeasedMessage, _ naturalKey: String, _ attributes: EventAttributes, adNetworkId: String, unsigned: UnsignedValues,
    _ type: EventType
  ) async -> WorkOutcome {
    var duplicate = Completion(state: .verified, events: [], recordedEventId: naturalKey)
    duplicate.reason = "duplicate"
    duplicate.outcomeLabel = "duplicate"
    let published: [UInt8]?
    var kept = DetailFinding.unknown
    do throws(QueueError) {
      published = try await deliveries.publishedEvent(naturalKey, besides: lease)
      if published == nil, deliveries.configuration.unsignedDigests {
        kept = try await deliveries.detail(unsigned.usable.canonical, of: naturalKey, besides: lease)
      }
    } catch {
      return .retry(after: .milliseconds(500), error: "the event that was published for this postback before cannot be read now")
    }
    guard let published else {
      // The feed no longer stores the event. Then a stored digest shows whether the unsigned values differ (``Completion/detail``).
      guard kept == .other else { return .complete(duplicate) }
      return rejected(
        lease, type, reason: Self.conflict, field: nil, subject: adNetworkId, attributes: attributes,
        more: [
          "countedEventId": .string(naturalKey), "unsigned": .object(unsigned.received),
          "environment": attributes.environment.map { .string($0) } ?? .null,
        ])
    }
    guard let first = try? JSONValue(parsing: published, limits: .ownDocuments), let firstValues = first["data"]?["unsigned"]?.objectValue
    else {
      return .deadLetter(error: "the event that was published for this postback before has no unsigned values to compare with")
    }
    guard unsigned.usable != unsigned.earlier(firstValues).usable else { return .complete(duplicate) }
    return rejected(
      lease, type, reason: Self.conflict, field: nil, subject: adNetworkId, attributes: attributes,
      more: [
        "countedEventId": .string(naturalKey), "countedUnsigned": .object(firstValues), "unsigned": .object(unsigned.received),
        "environment": attributes.environment.map { .string($0) } ?? .null,
      ])
  }
}
