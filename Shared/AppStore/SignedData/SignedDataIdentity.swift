import WireJSON

/// Which app and environment data says it belongs to.
struct SignedDataIdentity {
  let bundleId: String?
  let appAppleId: Int64?
  /// Nil when the data does not say.
  let environment: String?
  /// Whether production data of this kind carries the app's number.
  let checksAppAppleId: Bool

  var isUnsigned: Bool { environment.map(KnownApp.unsignedEnvironments.contains) ?? false }

  init(_ kind: SignedDataKind, _ payload: JSONObject) throws(SignedDataRefusal) {
    let holder: JSONObject
    if kind == .notification {
      guard let found = Self.holder(payload) else { throw SignedDataRefusal(.malformed, field: "data") }
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

  /// A notification holds exactly one of four objects.
  private static func holder(_ payload: JSONObject) -> JSONObject? {
    let found = ["data", "appData", "summary", "externalPurchaseToken"].compactMap { payload[$0]?.objectValue }
    return found.count == 1 ? found[0] : nil
  }

  static func environment(_ kind: SignedDataKind, _ payload: JSONObject) -> String? {
    switch kind {
    case .appTransaction: return payload["receiptType"]?.stringValue
    case .transaction, .renewalInfo, .realtimeRequest: return payload["environment"]?.stringValue
    case .notification:
      if let token = payload["externalPurchaseToken"]?.objectValue {
        // This one has no environment; its id tells.
        guard let id = token["externalPurchaseId"]?.stringValue else { return nil }
        return ExternalPurchaseToken.environment(ofId: id)
      }
      return holder(payload)?["environment"]?.stringValue
    }
  }
}
