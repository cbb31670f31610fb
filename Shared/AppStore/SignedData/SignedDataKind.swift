/// The kind of a JWS of the App Store.
public enum SignedDataKind: String, Sendable, Hashable, CaseIterable {
  case notification, transaction, renewalInfo, appTransaction, realtimeRequest
}
