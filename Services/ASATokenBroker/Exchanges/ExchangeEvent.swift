import AppleAttribution
import AttributionProtocol
import WireJSON

extension Exchange {
  /// The final event of the exchange's round, or of an addition to it; nil until it is decided.
  ///
  /// - Parameters:
  ///   - names: the deployment's names for the ids of Apple Ads.
  ///   - filter: removes what needs consent.
  ///   - traceparent: the header `traceparent` (W3C Trace Context) of the work that makes the event.
  func event(names: CampaignNames, filter: ConsentFilter, traceparent: String?) -> CloudEvent? {
    guard let outcome, let finishedAt else { return nil }
    var data: JSONObject = [
      "exchangeId": .string(id), "tokenKey": .string(tokenKey), "bundleId": .string(claims.bundleId),
      "outcome": .string(outcome.rawValue), "state": .string(state.rawValue), "attStatus": .integer(attStatus.code),
      "tokenCreatedAt": .string(Timestamp(millisecondsSince1970: claims.createdAt).text),
      "receivedAt": .string(Timestamp(millisecondsSince1970: receivedAt).text),
      "tokenAgeMs": .integer(tokenAge ?? max(0, finishedAt - claims.createdAt)),
    ]
    data["traceparent"] = traceparent.map { .string($0) }
    data["attempts"] = .array(
      attempts.map { ["time": .string(Timestamp(millisecondsSince1970: $0.at).text), "result": .string($0.result)] })
    if attStatusAtReceipt != attStatus { data["attStatusAtReceipt"] = .integer(attStatusAtReceipt.code) }
    data["installId"] = claims.installId.map { .string($0) }
    if !claims.conflicting.isEmpty { data["conflicting"] = .array(claims.conflicting.map { .string($0) }) }
    data["supersedes"] = supersedes.map { .string($0) }
    data["supersededBy"] = supersededBy.map { .string($0) }
    if !isBase64 { data["unusualToken"] = true }
    if let record, let shown = shownRecord(filter), let raw = shownRawRecord(filter) {
      data["detail"] = .string(record.detail.rawValue)
      // Test records have names of their own, so that nobody counts them.
      data[record.isTest ? "testRecord" : "record"] = .object(shown.payload)
      data[record.isTest ? "rawTestRecord" : "rawRecord"] = .object(raw)
      if !record.unusable.isEmpty { data["unusable"] = .array(record.unusable.map { .string($0) }) }
      data["attMismatch"] = .bool(isATTMismatch)
      let named = names.names(of: record)
      if !named.isEmpty {
        var object: JSONObject = [:]
        for (part, name) in named { object[part] = .string(name) }
        data["names"] = .object(object)
      }
      if !shown.removedNames.isEmpty { data["removedNames"] = .array(shown.removedNames.map { .string($0) }) }
    }
    return CloudEvent(
      id: lastEventId ?? eventId, source: ServiceName.asaTokenBroker.rawValue,
      type: outcome.isResolved ? .adServicesResolved : .adServicesFailed,
      subject: claims.bundleId, time: Timestamp(millisecondsSince1970: finishedAt), data: data)
  }
}
