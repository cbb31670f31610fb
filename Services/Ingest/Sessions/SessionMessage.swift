import AppleAttribution
import WireJSON

/// The attributes of a session in the queue.
struct SessionMessage: Sendable, Hashable {
  var bundleId: String
  var installHash: String
  var strategy: String
  /// The status at receipt.
  var attStatus: ATTStatus
  /// The time until which it is held, milliseconds since 1970.
  var heldUntil: Int64?
  /// Its order among the held sessions of its install.
  var place: Int64?
  /// The digest of the whole payload, if that is stored.
  var payloadDigest: String?
  /// The names of the fields that were removed from the body.
  var removedNames: [String]

  init(
    bundleId: String, installHash: String, strategy: String, attStatus: ATTStatus, heldUntil: Int64? = nil,
    place: Int64? = nil, payloadDigest: String? = nil, removedNames: [String] = []
  ) {
    self.bundleId = bundleId
    self.installHash = installHash
    self.strategy = strategy
    self.attStatus = attStatus
    self.heldUntil = heldUntil
    self.place = place
    self.payloadDigest = payloadDigest
    self.removedNames = removedNames
  }

  var attributes: [String: String] {
    var attributes = [
      "bundleId": bundleId, "installHash": installHash, "strategy": strategy, "attStatus": String(attStatus.code),
    ]
    attributes["heldUntil"] = heldUntil.map { String($0) }
    attributes["place"] = place.map { String($0) }
    attributes["payloadDigest"] = payloadDigest
    if !removedNames.isEmpty {
      attributes["removedNames"] = JSONValue.array(removedNames.map { .string($0) }).serializedString
    }
    return attributes
  }

  /// Nil if the attributes are damaged.
  init?(attributes: [String: String]) {
    guard let bundleId = attributes["bundleId"], let installHash = attributes["installHash"],
      let strategy = attributes["strategy"], let code = attributes["attStatus"].flatMap({ Int64($0) })
    else { return nil }
    self.init(
      bundleId: bundleId, installHash: installHash, strategy: strategy, attStatus: ATTStatus(code: code),
      heldUntil: attributes["heldUntil"].flatMap { Int64($0) }, place: attributes["place"].flatMap { Int64($0) },
      payloadDigest: attributes["payloadDigest"],
      removedNames: (attributes["removedNames"].flatMap { try? JSONValue(parsing: $0) })?.arrayValue?
        .compactMap(\.stringValue) ?? [])
  }
}
