import AppleAttribution
import WireJSON

/// The attributes of a session's message in the queue. Its body is the session without the fields that need consent.
struct SessionMessage: Sendable, Hashable {
  var bundleId: String
  var installHash: String
  /// The name of the routing strategy.
  var strategy: String
  /// The ATT status at receipt.
  var attStatus: ATTStatus
  /// The time until which the session is held at most, milliseconds since 1970; nil if it is not held.
  var heldUntil: Int64?
  /// The position among the held sessions of the install.
  var position: Int64?
  /// The digest under which the whole payload is stored; nil if it is not stored.
  var payloadDigest: String?
  /// The names of the fields that were removed from the body.
  var removedNames: [String]

  init(
    bundleId: String, installHash: String, strategy: String, attStatus: ATTStatus, heldUntil: Int64? = nil,
    position: Int64? = nil, payloadDigest: String? = nil, removedNames: [String] = []
  ) {
    self.bundleId = bundleId
    self.installHash = installHash
    self.strategy = strategy
    self.attStatus = attStatus
    self.heldUntil = heldUntil
    self.position = position
    self.payloadDigest = payloadDigest
    self.removedNames = removedNames
  }

  /// The attributes as they are stored. `place` is the position.
  var attributes: [String: String] {
    var attributes = [
      "bundleId": bundleId, "installHash": installHash, "strategy": strategy, "attStatus": String(attStatus.code),
    ]
    attributes["heldUntil"] = heldUntil.map { String($0) }
    attributes["place"] = position.map { String($0) }
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
      heldUntil: attributes["heldUntil"].flatMap { Int64($0) }, position: attributes["place"].flatMap { Int64($0) },
      payloadDigest: attributes["payloadDigest"],
      removedNames: (attributes["removedNames"].flatMap { try? JSONValue(parsing: $0) })?.arrayValue?
        .compactMap(\.stringValue) ?? [])
  }
}
