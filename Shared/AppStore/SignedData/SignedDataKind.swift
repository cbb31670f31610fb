public import WireJSON

/// The kind of a JWS of the App Store, by its payload: responseBodyV2DecodedPayload, JWSTransactionDecodedPayload,
/// JWSRenewalInfoDecodedPayload, JWSAppTransactionDecodedPayload, DecodedRealtimeRequestBody.
public enum SignedDataKind: String, Sendable, Hashable, CaseIterable {
  case notification, transaction, renewalInfo, appTransaction, realtimeRequest

  /// Members by which data of this kind is told from data of the other kinds. Apple's data has all of them, apart from rare omissions.
  private var ownMembers: [String] {
    switch self {
    case .notification: ["notificationUUID", "notificationType"]
    case .transaction: ["transactionId", "purchaseDate", "type", "inAppOwnershipType", "quantity"]
    case .renewalInfo: ["autoRenewStatus", "autoRenewProductId", "renewalDate", "recentSubscriptionStartDate"]
    case .appTransaction: ["receiptType", "receiptCreationDate", "applicationVersion", "originalApplicationVersion"]
    case .realtimeRequest: ["requestIdentifier", "userLocale"]
    }
  }

  /// True if a payload has members that only this kind has.
  public func isKind(of payload: JSONObject) -> Bool { ownMembers.contains { payload[$0] != nil } }
}
