/// The kind of a JWS of the App Store, by its payload: responseBodyV2DecodedPayload, JWSTransactionDecodedPayload,
/// JWSRenewalInfoDecodedPayload, JWSAppTransactionDecodedPayload, DecodedRealtimeRequestBody.
public enum SignedDataKind: String, Sendable, Hashable, CaseIterable {
  case notification, transaction, renewalInfo, appTransaction, realtimeRequest
}
