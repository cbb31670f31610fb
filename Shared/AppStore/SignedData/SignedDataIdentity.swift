import WireJSON

/// The app and the environment that a payload names, read from the fields in which each kind of data has them. A verifier compares them
/// with the expected ones (`SignedDataVerifier+Identity.swift`). A member that is missing, empty or of another type than Apple documents
/// names nothing.
struct SignedDataIdentity {
  let kind: SignedDataKind
  /// True if the payload has members that only its kind has.
  private let hasOwnMembers: Bool
  /// True if the payload has members that only another kind has, and none of its own.
  let hasForeignMembers: Bool
  /// True if an object that only a notification has names the app.
  private var isNamedByKnownObject = false
  private(set) var bundleId: String?
  private(set) var appAppleId: Int64?
  private(set) var environment: String?
  /// True if objects of a notification that count the same name different apps.
  private(set) var namesSeveralApps = false
  /// True if objects of a notification that count the same name different environments.
  private(set) var namesSeveralEnvironments = false

  /// Reads a payload. What the JWS inside a notification name is added with ``complete(from:)``.
  init(_ kind: SignedDataKind, _ payload: JSONObject) {
    switch kind {
    case .notification: self.init(NotificationContents(payload))
    case .transaction, .appTransaction, .renewalInfo, .realtimeRequest: self.init(members: payload, of: kind)
    }
  }

  private init(members payload: JSONObject, of kind: SignedDataKind) {
    self.kind = kind
    (hasOwnMembers, hasForeignMembers) = Self.members(of: kind, payload)
    // Apple documents no bundle id for renewal information and realtime requests. One that is there counts nevertheless.
    bundleId = payload.nonEmptyText("bundleId")
    appAppleId = payload["appAppleId"]?.int64Value
    environment = payload.nonEmptyText(kind == .appTransaction ? "receiptType" : "environment")
  }

  private static func members(of kind: SignedDataKind, _ payload: JSONObject) -> (own: Bool, foreign: Bool) {
    if kind.isKind(of: payload) { return (true, false) }
    return (false, SignedDataKind.allCases.contains { $0 != kind && $0.isKind(of: payload) })
  }

  init(_ notification: NotificationContents) {
    kind = .notification
    (hasOwnMembers, hasForeignMembers) = Self.members(of: kind, notification.payload)
    isNamedByKnownObject = notification.holders[0].contains { holder in
      holder.object.nonEmptyText("bundleId") != nil || (holder.object["appAppleId"]?.int64Value ?? 0) != 0
    }
    for group in notification.holders where !namesApp {
      appAppleId = nil
      for holder in group {
        let (bundle, id) = (holder.object.nonEmptyText("bundleId"), holder.object["appAppleId"]?.int64Value)
        if let bundle, let bundleId, !bundle.isExactly(bundleId) { namesSeveralApps = true }
        if let id, let appAppleId, id != appAppleId { namesSeveralApps = true }
        bundleId = bundleId ?? bundle
        appAppleId = appAppleId ?? id
      }
    }
    for group in notification.holders where environment == nil {
      for named in group.compactMap(\.environment) {
        if let environment, !named.isExactly(environment) { namesSeveralEnvironments = true }
        environment = environment ?? named
      }
    }
  }

  /// True if the data names its app. In the sandbox, Apple may send 0 in place of the app's Apple id, which names none.
  var namesApp: Bool { bundleId != nil || (appAppleId ?? 0) != 0 }

  /// True if nothing shows that the payload is of the kind that its reader takes it for, or if it is of another one, such as an app
  /// transaction in place of a transaction: it has no member that only this kind has, and has one of another kind, or does not name its app
  /// and environment as this kind does.
  var isOfAnotherKind: Bool {
    guard !hasOwnMembers else { return false }
    if hasForeignMembers { return true }
    return switch kind {
    case .notification: !isNamedByKnownObject
    case .transaction, .appTransaction: bundleId == nil || environment == nil
    case .renewalInfo, .realtimeRequest: environment == nil
    }
  }

  /// True if production data of this kind contains the app's Apple id.
  var checksAppAppleId: Bool { kind == .notification || kind == .appTransaction || kind == .realtimeRequest }

  /// True if the data names an environment whose data Apple does not sign.
  var isUnsigned: Bool { environment.map(KnownApp.unsignedEnvironments.contains) ?? false }

  /// True if a notification does not name its app or its environment, so that the JWS inside it may tell them.
  var isIncomplete: Bool { !namesApp || environment == nil }

  /// Takes the app or the environment that a notification does not name from the JWS inside it.
  mutating func complete(from nested: [SignedDataIdentity]) {
    if !namesApp, let named = nested.first(where: \.namesApp) { (bundleId, appAppleId) = (named.bundleId, named.appAppleId) }
    environment = environment ?? nested.lazy.compactMap(\.environment).first
  }
}
