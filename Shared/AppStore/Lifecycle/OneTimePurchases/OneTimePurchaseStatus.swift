/// The status of a one-time purchase, that is, of a consumable, a non-consumable or a non-renewing subscription
/// (JWSTransactionDecodedPayload, `type`).
public enum OneTimePurchaseStatus: String, Sendable, Hashable, CaseIterable {
  case purchased
  /// Refunded, in whole or in part.
  case refunded
  /// Family Sharing or the assignment of a seat ended.
  case revoked
}
