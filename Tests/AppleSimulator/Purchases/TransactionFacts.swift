import WireJSON

/// A transaction as the App Store stores it: *JWSTransactionDecodedPayload* without the signing date.
public struct TransactionFacts: Sendable {
  var fields: JSONObject
  /// The time of the last change in milliseconds, by which *Get Transaction History* sorts.
  var modified: Int64
  var orderID: String

  var id: String { fields["transactionId"]?.stringValue ?? "" }
  var originalID: String { fields["originalTransactionId"]?.stringValue ?? "" }
  var purchaseDate: Int64 { fields["purchaseDate"]?.int64Value ?? 0 }
  var expiresDate: Int64 { fields["expiresDate"]?.int64Value ?? 0 }
  var revocationDate: Int64? { fields["revocationDate"]?.int64Value }
  var isFamilyShared: Bool { fields["inAppOwnershipType"]?.stringValue == "FAMILY_SHARED" }

  /// Changes a one-time purchase as a notification of this type reports it.
  mutating func apply(_ type: String, at date: Int64) {
    switch type {
    case "REFUND":
      fields["revocationDate"] = .integer(date)
      fields["revocationReason"] = 0
      fields["revocationType"] = "REFUND_FULL"
      fields["revocationPercentage"] = 100_000
    case "REVOKE":
      fields["inAppOwnershipType"] = "FAMILY_SHARED"
      fields["revocationDate"] = .integer(date)
      fields["revocationReason"] = 0
      fields["revocationType"] = "FAMILY_REVOKE"
    case "REFUND_REVERSED":
      for name in ["revocationDate", "revocationReason", "revocationType", "revocationPercentage"] { fields[name] = nil }
    default: return
    }
    modified = date
  }

  /// *JWSTransactionDecodedPayload*. `overrides` replaces members; null removes one.
  func payload(signedDate: Int64, overrides: JSONObject? = nil) -> JSONObject {
    var payload = fields
    payload["signedDate"] = .integer(signedDate)
    payload.merge(overrides)
    return payload
  }
}

extension JSONObject {
  /// Replaces members by those of `other`; null removes one.
  mutating func merge(_ other: JSONObject?) {
    for member in other?.members ?? [] {
      if member.value.isNull { self[member.key] = nil } else { self[member.key] = member.value }
    }
  }
}
