import WireJSON

/// A token as it was handed in, by whatever way: what the exchange needs to know besides the token itself.
///
/// It travels in a queue as attributes beside the token, which is the message's body. Two submissions of one token are
/// one exchange, whichever way they came, so ``idempotencyKey`` depends on the token alone.
public struct TokenSubmission: Sendable, Hashable {
  /// What kind of message carries a submission in the queue `tokens`.
  public static let messageKind = "adservices-token"
  /// The longest bundle id and install id, in bytes.
  public static let maximumIdentifierBytes = 255

  public let token: AttributionToken
  public let bundleId: String
  public let installId: String?
  /// What the SDK says; no status is ``ATTStatus/unavailable``.
  public let attStatus: ATTStatus
  /// When the token was made, milliseconds since 1970, within its bounds.
  public let createdAt: Int64
  /// When it reached us.
  public let receivedAt: Int64

  /// Checks what was handed in. Throws ``FieldError`` with the name the field has on the wire.
  ///
  /// - Parameter requestedAt: when the device asked for the token, milliseconds since 1970; nil: at receipt.
  public init(
    token: String?, bundleId: String?, installId: String?, attStatus: ATTStatus, requestedAt: Int64?, receivedAt: Int64
  ) throws(FieldError) {
    self.token = try AttributionToken(validating: token ?? "")
    guard let bundleId, Self.isIdentifier(bundleId) else {
      throw FieldError(field: "bundleId", reason: "must be the app's bundle id")
    }
    if let installId, !installId.isEmpty, !Self.isIdentifier(installId) {
      throw FieldError(
        field: "installId", reason: "must be 1 to \(Self.maximumIdentifierBytes) bytes without control characters")
    }
    self.bundleId = bundleId
    self.installId = installId.flatMap { $0.isEmpty ? nil : $0 }
    self.attStatus = attStatus
    self.createdAt = try AttributionToken.creationTime(claimed: requestedAt, receivedAt: receivedAt)
    self.receivedAt = receivedAt
  }

  /// Reads what ``attributes`` and the message carried. Throws ``FieldError`` when they are damaged.
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

  /// When Apple ceases to answer for the token, milliseconds since 1970: nothing is sent later.
  public var deadline: Int64 { createdAt + AttributionToken.lifetimeMilliseconds }

  /// Names the exchange: the key of the token.
  public var idempotencyKey: String { "adservices:" + token.key }

  /// What travels beside the token.
  public var attributes: [String: String] {
    var attributes = ["bundleId": bundleId, "attStatus": String(attStatus.code), "createdAt": String(createdAt)]
    attributes["installId"] = installId
    return attributes
  }

  private static func isIdentifier(_ text: String) -> Bool {
    (1...maximumIdentifierBytes).contains(text.utf8.count)
      && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
  }
}
