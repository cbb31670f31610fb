import WireJSON

/// A submitted token with everything else that its exchange needs.
///
/// In the queue, the token is the message's body and the rest are its attributes. ``idempotencyKey`` depends only on the token, so that two
/// submissions of a token are one exchange.
public struct TokenSubmission: Sendable, Hashable {
  /// The kind of its message in the queue `tokens`.
  public static let messageKind = "adservices-token"
  /// The longest bundle id and install id, bytes.
  public static let maxIdentifierBytes = 255
  /// The tolerance for a device's clock being ahead, milliseconds: 5 minutes.
  static let clockToleranceMilliseconds: Int64 = 5 * 60_000

  public let token: AttributionToken
  public let bundleId: String
  public let installId: String?
  /// The SDK's status; ``ATTStatus/unavailable`` if there is none.
  public let attStatus: ATTStatus
  /// The token's validated creation time, milliseconds since 1970.
  public let createdAt: Int64
  /// The time of receipt, milliseconds since 1970.
  public let receivedAt: Int64

  /// Validates a submission. Throws ``FieldError`` with the request's name of the field.
  ///
  /// - Parameter requestedAt: the time at which the device requested the token, milliseconds since 1970; nil: at receipt.
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

  /// Reads a message's ``attributes``. Throws ``FieldError`` if they are damaged.
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

  /// The creation time of a token, milliseconds since 1970: the device's, or the time of receipt if the device does not state it. Throws
  /// ``FieldError`` if the device's time is more than 24 hours in the past or 5 minutes in the future. A time slightly in the future counts
  /// as now.
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

  /// The time at which the token expires, milliseconds since 1970; it is not sent later.
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
