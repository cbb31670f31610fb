import AppleAttribution
import AttributionProtocol
import AttributionQueue
import WireJSON

/// The common parts of both kinds of postbacks: ``skAdNetwork(_:)`` and ``adAttributionKit(_:)`` call them.
extension VerificationWorker {
  /// The reason of a rejection.
  private static let conflict = "conflicting_unsigned"

  /// The ad network that the URL named; nil for a URL that names none.
  func expectedAdNetwork(_ lease: LeasedMessage) -> Set<String>? {
    lease.message.attributes[PostbackKind.expectedAdNetworkAttribute].map { [$0] }
  }

  /// The values of a postback that are counted for charts. Development postbacks are left out, because any device in Developer Mode can
  /// create them for any app.
  ///
  /// - Parameter window: the postback's sequence index; nil for SKAdNetwork versions without one.
  static func counted(
    app: Int64, _ environment: PostbackEnvironment, isWinning: Bool, fine: Int?, coarse: CoarseConversionValue?, window: Int?,
    adNetworkId: String, source: String?
  ) -> [CountedValue] {
    guard environment == .production else { return [] }
    // Values are not signed. Apple sends none for an ad that did not win, and a fine one only in the first window.
    let value: CountedValue
    if isWinning, window ?? 0 == 0, let fine {
      value = .fine(app: app, fine)
    } else if isWinning, let coarse {
      value = .coarse(app: app, coarse.rawValue)
    } else {
      value = .noConversion(app: app)
    }
    guard let source else { return [value] }
    return [value, .source(adNetworkId: adNetworkId, source)]
  }

  /// The outcome for a verified postback. If its natural key is new, the event is published in the feed of the message's shard, in the
  /// atomic step that claims the key and removes the message (commit_plain.lua, ``Settlement``); otherwise `seen` decides. Only a
  /// verified postback claims its natural key, so that a forged one cannot take the place of a genuine one.
  ///
  /// - Parameter conflict: the type of the event if this postback was published before with other unsigned values.
  func verified(
    _ lease: LeasedMessage, _ type: EventType, claiming naturalKey: String, _ event: [UInt8], _ counted: [CountedValue],
    _ attributes: EventAttributes, unsigned: JSONObject, otherwise conflict: EventType
  ) -> WorkOutcome {
    verifiedMetric.add(lease.message.kind, attributes.environment ?? "")
    var completion = Completion(
      state: .verified, naturalKey: naturalKey,
      events: [EventRecord(id: naturalKey, type: type.rawValue, json: event, attributes: attributes)])
    if deliveries.configuration.unsignedDigests { completion.detail = unsigned.canonical }
    completion.keepsOriginal = true
    completion.countedValues = counted
    completion.whenSeen = { await self.seen(lease, naturalKey, attributes, unsigned: unsigned, conflict) }
    return .complete(completion)
  }

  /// Decides about a signed postback whose natural key was claimed before. Its holder can send it again with other unsigned values. The
  /// first ones count, and other values are published as a conflict.
  private func seen(
    _ lease: LeasedMessage, _ naturalKey: String, _ attributes: EventAttributes, unsigned values: JSONObject, _ type: EventType
  ) async -> WorkOutcome {
    var duplicate = Completion(state: .verified, events: [], recordedEventId: naturalKey)
    duplicate.reason = "duplicate"
    duplicate.word = "duplicate"
    let published: [UInt8]?
    var kept = DetailFinding.unknown
    do throws(QueueError) {
      published = try await deliveries.publishedEvent(naturalKey, besides: lease)
      if published == nil, deliveries.configuration.unsignedDigests {
        kept = try await deliveries.detail(values.canonical, of: naturalKey, besides: lease)
      }
    } catch {
      return .retry(after: .milliseconds(500), error: "the event that was published before cannot be read")
    }
    guard let published else {
      // The feed no longer has the event.
      guard kept == .other else { return .complete(duplicate) }
      return rejected(
        lease, type, reason: Self.conflict, field: nil, subject: attributes.adNetworkId, attributes: attributes,
        more: [
          "countedEventId": .string(naturalKey), "unsigned": .object(values),
          "environment": attributes.environment.map { .string($0) } ?? .null,
        ])
    }
    guard let first = try? JSONValue(parsing: published, limits: .ownDocuments), let firstValues = first["data"]?["unsigned"]?.objectValue
    else {
      return .deadLetter(error: "the event that was published before cannot be compared with")
    }
    guard values != firstValues else { return .complete(duplicate) }
    return rejected(
      lease, type, reason: Self.conflict, field: nil, subject: attributes.adNetworkId, attributes: attributes,
      more: [
        "countedEventId": .string(naturalKey), "countedUnsigned": .object(firstValues), "unsigned": .object(values),
        "environment": attributes.environment.map { .string($0) } ?? .null,
      ])
  }
}
