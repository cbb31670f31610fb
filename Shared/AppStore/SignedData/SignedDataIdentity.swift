import WireJSON

/// The app and the environment that a payload names, read from the fields in which each kind of data has them. A verifier compares them
/// with the expected ones (`SignedDataVerifier+Identity.swift`).
struct SignedDataIdentity {
  let bundleId: String?
  let appAppleId: Int64?
  /// Nil if the data names none.
  let environment: String?
  /// True if production data of this kind contains the app's Apple id.
  let checksAppAppleId: Bool
  /// True if data of this kind contains the app's bundle id, and this does not.
  let lacksBundleId: Bool

  /// True if the data names an environment whose data Apple does not sign.
  var isUnsigned: Bool { environment.map(KnownApp.unsignedEnvironments.contains) ?? false }

  /// Throws `malformed` if a required field is missing.
  init(_ kind: SignedDataKind, _ payload: JSONObject) throws(SignedDataRefusal) {
    let holder: JSONObject
    if kind == .notification {
      guard let found = NotificationContents(payload).subject else { throw SignedDataRefusal(.malformed, field: "data") }
      holder = found
      guard payload["notificationUUID"]?.stringValue?.isEmpty == false else {
        throw SignedDataRefusal(.malformed, field: "notificationUUID")
      }
    } else {
      holder = payload
    }
    environment = Self.environment(kind, payload)
    appAppleId = holder["appAppleId"]?.int64Value
    switch kind {
    case .notification:
      guard let bundleId = holder["bundleId"]?.stringValue else {
        throw SignedDataRefusal(.malformed, field: "bundleId")
      }
      self.bundleId = bundleId
    case .transaction, .appTransaction: bundleId = holder["bundleId"]?.stringValue
    case .renewalInfo, .realtimeRequest: bundleId = nil
    }
    lacksBundleId = (kind == .transaction || kind == .appTransaction) && bundleId == nil
    checksAppAppleId = kind == .notification || kind == .appTransaction || kind == .realtimeRequest
  }

  /// The environment that a payload of this kind names; nil if it names none.
  static func environment(_ kind: SignedDataKind, _ payload: JSONObject) -> String? {
    switch kind {
    case .appTransaction: payload["receiptType"]?.stringValue
    case .transaction, .renewalInfo, .realtimeRequest: payload["environment"]?.stringValue
    case .notification: NotificationContents(payload).environment
    }
  }
}
