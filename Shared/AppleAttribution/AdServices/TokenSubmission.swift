import WireJSON

/// A token that a device submitted, with the other values that its exchange needs.
///
/// In the queue, the token is the message's body, and the other values are its attributes. ``idempotencyKey`` depends only on the token, so
/// that two submissions of one token lead to one exchange.
public struct TokenSubmission: Sendable, Hashable {
  /// The kind of the message in the queue `tokens`.
  public static let messageKind = "adservices-token"
  /// The longest bundle id and install id, bytes.
  public static let maxIdentifierBytes = 255
  /// How far a device's time may be after ours, milliseconds: 5 minutes, because its clock may be ahead.
  static let clockToleranceMilliseconds: Int64 = 5 * 60_000

  public let token: AttributionToken
  public let bundleId: String
  public let installId: String?
  /// The ATT status that came with the token; ``ATTStatus/unavailable`` if there was none.
  public let attStatus: ATTStatus
  /// The token's validated creation time, milliseconds since 1970.
  public let createdAt: Int64
  /// The time of receipt, milliseconds since 1970.
  public let receivedAt: Int64

  /// Validates a submission. Throws ``FieldError`` with the field's name in the request.
  ///
  /// - Parameter requestedAt: the time at which the device requested the token from the system, milliseconds since 1970. Nil if the device
  ///   does not state it; then the time of receipt is used.
  public init(
    token: String?, bundleId: String?, installId: String?, attStatus: ATTStatus, requestedAt: Int64?, receivedAt: Int64
  ) throws(FieldError) {
    self.token = try AttributionToken(validating: token ?? "")
    guard let bundleId, Self.isIdentifier(bundleId) else {
      throw FieldError(field: "bundleId", reason: "must be the app's bundle id")
    }
    if let installId, !installId.isEmpty, !Self.isIdentifier(installId) {
      throw FieldError(
        field: "installId", reason: "must be 1 to \(Self.maxIdentifierBytes) bytes without control characters")
    }
    self.bundleId = bundleId
    self.installId = installId.flatMap { $0.isEmpty ? nil : $0 }
    self.attStatus = attStatus
    self.createdAt = try Self.creationTime(claimed: requestedAt, receivedAt: receivedAt)
    self.receivedAt = receivedAt
  }

  /// Reads a message of the queue: its body and its ``attributes``. Throws ``FieldError`` if they are damaged.
  public init(token: String, attributes: [String: String], receivedAt: Int64) throws(FieldError) {
    guard let createdAt = attributes["createdAt"].flatMap({ Int64($0) }) else {
      throw FieldError(field: "createdAt", reason: "is missing in the message")
    }
    self.token = try AttributionToken(validating: token)
    bundleId = attributes["bundleId"] ?? ""
    installId = attributes["installId"]
    attStatus = ATTStatus(code: attributes["attStatus"].flatMap { Int64($0) } ?? -1)
    self.createdAt = createdAt
    self.receivedAt = receivedAt
  }

  /// The creation time of a token, milliseconds since 1970: the time that the device states, otherwise the time of receipt. A stated time
  /// that is up to 5 minutes after the receipt counts as the time of receipt. Throws ``FieldError`` if it is later, or more than 24 hours
  /// before the receipt.
  public static func creationTime(
    claimed: Int64?, receivedAt: Int64, field: String = "requestedAt"
  ) throws(FieldError) -> Int64 {
    guard let claimed else { return receivedAt }
    guard claimed >= receivedAt - AttributionToken.lifetimeMilliseconds else {
      throw FieldError(field: field, reason: "is more than 24 hours ago: the token has expired")
    }
    guard claimed <= receivedAt + clockToleranceMilliseconds else {
      throw FieldError(field: field, reason: "is more than 5 minutes in the future")
    }
    return min(claimed, receivedAt)
  }

  /// The time at which the token expires, milliseconds since 1970. Apple is not called later.
  public var deadline: Int64 { createdAt + AttributionToken.lifetimeMilliseconds }

  /// The idempotency key, made from the token's key.
  public var idempotencyKey: String { "adservices:" + token.key }

  /// The attributes of the message.
  public var attributes: [String: String] {
    var attributes = ["bundleId": bundleId, "attStatus": String(attStatus.code), "createdAt": String(createdAt)]
    attributes["installId"] = installId
    return attributes
  }

  private static func isIdentifier(_ text: String) -> Bool {
    (1...maxIdentifierBytes).contains(text.utf8.count)
      && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
  }
}
