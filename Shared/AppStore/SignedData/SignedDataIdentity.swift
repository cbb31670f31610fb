import WireJSON

/// The app and environment that the data names.
struct SignedDataIdentity {
  let bundleId: String?
  let appAppleId: Int64?
  /// Nil if the data does not name one.
  let environment: String?
  /// True if production data of this kind has the app's Apple id.
  let checksAppAppleId: Bool

  var isUnsigned: Bool { environment.map(KnownApp.unsignedEnvironments.contains) ?? false }

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
    case .notification, .transaction, .appTransaction:
      guard let bundleId = holder["bundleId"]?.stringValue else {
        throw SignedDataRefusal(.malformed, field: "bundleId")
      }
      self.bundleId = bundleId
    case .renewalInfo, .realtimeRequest: bundleId = nil
    }
    checksAppAppleId = kind == .notification || kind == .appTransaction || kind == .realtimeRequest
  }

  static func environment(_ kind: SignedDataKind, _ payload: JSONObject) -> String? {
    switch kind {
    case .appTransaction: payload["receiptType"]?.stringValue
    case .transaction, .renewalInfo, .realtimeRequest: payload["environment"]?.stringValue
    case .notification: NotificationContents(payload).environment
    }
  }
}
