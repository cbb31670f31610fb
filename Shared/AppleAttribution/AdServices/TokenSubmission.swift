import Cryptography

/// A token that a device submitted, with the other values that its exchange needs.
///
/// In the queue, the token is the message's body, and the ``claims`` are its attributes. ``idempotencyKey`` depends only on the token, so
/// that two submissions of one token lead to one exchange. What a later submission adds follows as a message of its own, without the token
/// (``additionKind``).
public struct TokenSubmission: Sendable, Hashable {
  /// The kind of the message in the queue `tokens`.
  public static let messageKind = "adservices-token"
  /// The kind of the message with the claims of a later submission. It also has the attribute ``exchangeAttribute``.
  public static let additionKind = "adservices-token-addition"
  /// The attribute that names the exchange to which an addition belongs.
  public static let exchangeAttribute = "exchangeId"
  /// The longest bundle id and install id, bytes.
  public static let maxIdentifierBytes = 255
  /// The first moment at which a system could make a token, milliseconds since 1970: 14 December 2020, when iOS 14.3 was published. A device
  /// that states an earlier time has a wrong clock or another calendar.
  static let firstTokens: Int64 = 1_607_904_000_000

  public let token: AttributionToken
  public let claims: TokenClaims
  /// The time of receipt, milliseconds since 1970.
  public let receivedAt: Int64

  /// Validates a submission. Throws ``FieldError`` with the field's name in the request.
  ///
  /// - Parameters:
  ///   - attStatus: nil if the request states none.
  ///   - requestedAt: the time at which the device requested the token from the system, milliseconds since 1970. Nil if the device does not
  ///     state it, or if it cannot be read; then the time of receipt is used.
  public init(
    token: String?, bundleId: String?, installId: String?, attStatus: ATTStatus?, requestedAt: Int64?, receivedAt: Int64
  ) throws(FieldError) {
    self.token = try AttributionToken(validating: token ?? "")
    guard let bundleId, Self.isIdentifier(bundleId) else {
      throw FieldError(field: "bundleId", reason: "must be the app's bundle id")
    }
    if let installId, !installId.isEmpty, !Self.isIdentifier(installId) {
      throw FieldError(
        field: "installId", reason: "must be 1 to \(Self.maxIdentifierBytes) bytes without control characters")
    }
    claims = TokenClaims(
      bundleId: bundleId, installId: installId.flatMap { $0.isEmpty ? nil : $0 }, attStatus: attStatus,
      createdAt: try Self.creationTime(claimed: requestedAt, receivedAt: receivedAt))
    self.receivedAt = receivedAt
  }

  /// Reads a message of the queue: its body and its attributes. Throws ``FieldError`` if they are damaged.
  public init(token: String, attributes: [String: String], receivedAt: Int64) throws(FieldError) {
    guard let claims = TokenClaims(attributes: attributes) else {
      throw FieldError(field: "createdAt", reason: "or bundleId is missing in the message")
    }
    self.token = try AttributionToken(validating: token)
    self.claims = claims
    self.receivedAt = receivedAt
  }

  /// The creation time of a token, milliseconds since 1970: the time that the device states. The time of receipt takes its place if the device
  /// states none, one in the future, or one before ``firstTokens``. Throws ``FieldError`` if it is more than 24 hours before the receipt.
  public static func creationTime(
    claimed: Int64?, receivedAt: Int64, field: String = "requestedAt"
  ) throws(FieldError) -> Int64 {
    guard let claimed, (firstTokens...max(firstTokens, receivedAt)).contains(claimed) else { return receivedAt }
    guard claimed >= receivedAt - AttributionToken.lifetimeMilliseconds else {
      throw FieldError(field: field, reason: "is more than 24 hours ago: the token has expired")
    }
    return claimed
  }

  /// The idempotency key, made from the token's key.
  public var idempotencyKey: String { "adservices:" + token.key }

  /// The idempotency key of the addition to an earlier submission: the same claims are added once.
  public var additionKey: String {
    let said = [claims.bundleId, claims.installId ?? "", claims.attStatus.map { String($0.code) } ?? ""].joined(separator: "\u{0}")
    return "adservices-addition:\(token.key):" + Hex.encode(SHA256Digest.hash(Array(said.utf8)))
  }

  private static func isIdentifier(_ text: String) -> Bool {
    (1...maxIdentifierBytes).contains(text.utf8.count)
      && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
  }
}
