import WireJSON

/// Decides whether the app and the environment that signed data names are accepted. ``SignedDataIdentity`` reads them from the data.
extension SignedDataVerifier {
  /// The environments whose data Apple signs.
  private static let signedEnvironments = ["Production", "Sandbox"]

  /// The reason to reject the data because of its app; nil if the app is accepted. The environment is checked afterwards.
  func wrongApp(_ identity: SignedDataIdentity, _ expecting: SignedDataExpectation) -> SignedDataReason? {
    if identity.namesSeveralApps { return .wrongApp }
    var app = app(of: identity, expecting)
    // An app that is not configured for the environment counts as not configured.
    if let environment = expecting.environment, app?.environments.contains(environment) == false { app = nil }
    let isProduction = (expecting.environment ?? identity.environment) == "Production"
    // Renewal information need not name its app, and a realtime request only in production.
    if identity.bundleId == nil, identity.kind == .renewalInfo || (identity.kind == .realtimeRequest && !isProduction) { return nil }
    guard identity.namesApp || (identity.kind == .realtimeRequest && identity.appAppleId != nil) else {
      guard expecting.trustedSource, app != nil || expecting.bundleId != nil else { return .appNotNamed }
      return app == nil && expecting.requiresKnownApp ? .wrongApp : nil
    }
    if let bundleId = identity.bundleId {
      if let expected = expecting.bundleId, !expected.isExactly(bundleId) { return .wrongApp }
      if app == nil, expecting.bundleId == nil { return .wrongApp }
    }
    if app == nil, expecting.requiresKnownApp { return .wrongApp }
    // Apple omits the app's Apple id in the sandbox, so it is compared there only if it alone names the app. If production data lacks it,
    // the configured app with the data's bundle id tells it.
    guard identity.bundleId == nil || (isProduction && identity.checksAppAppleId), let id = identity.appAppleId ?? app?.appAppleId
    else { return nil }
    return id == expecting.appAppleId ?? app?.appAppleId ? nil : .wrongApp
  }

  /// The reason to reject the data because of its environment; nil if the environment is accepted.
  func wrongEnvironment(
    _ identity: SignedDataIdentity, _ environment: String, _ expecting: SignedDataExpectation
  ) -> SignedDataReason? {
    if identity.namesSeveralEnvironments { return .wrongEnvironment }
    let isUnsigned = acceptsXcodeData && identity.isUnsigned
    guard isUnsigned || Self.signedEnvironments.contains(where: { $0.isExactly(environment) }) else { return .wrongEnvironment }
    if let expected = expecting.environment { return expected == environment ? nil : .wrongEnvironment }
    guard let app = app(of: identity, expecting) else { return nil }
    return app.environments.contains(environment) ? nil : .wrongEnvironment
  }

  /// The configured app that the data names, or that the caller expects if the data names none; nil if there is none.
  func app(of identity: SignedDataIdentity, _ expecting: SignedDataExpectation) -> KnownApp? {
    if let bundleId = identity.bundleId ?? expecting.bundleId { return apps.first { $0.bundleId.isExactly(bundleId) } }
    return (identity.appAppleId ?? expecting.appAppleId).flatMap { id in apps.first { $0.appAppleId == id } }
  }
}
