import AppleAttribution
import WireJSON

/// Chooses the strategy of a session, by which the table has its hosts.
struct SessionRouting: Sendable {
  /// The hosts of each strategy, for users with and without consent.
  let table: ConsentRoutingTable
  /// Removes the fields that need consent.
  let filter: ConsentFilter
  /// The strategy of each configured app, by bundle id.
  let strategies: [String: String]

  /// The error for a session that names no strategy and whose app is not configured.
  static let unknownApp = FieldError(field: "bundleId", reason: "is not a configured app")

  func isConfigured(_ bundleId: String) -> Bool { strategies[bundleId] != nil }

  /// Checks an ATT status of an app that is not configured. Like a session of such an app, it must name a known strategy. Throws
  /// ``FieldError``.
  func checkStatus(_ body: JSONObject) throws(FieldError) {
    guard let strategy = try SessionSubmission.strategy(in: body) else { throw Self.unknownApp }
    _ = try table.route(strategy: strategy, consent: false)
  }

  /// The strategy of a session. Throws ``FieldError`` if the session names an unknown one, if its app is not configured and it names none,
  /// or if the strategy would leave the region that the app's configuration requires.
  func strategy(for session: SessionSubmission) throws(FieldError) -> String {
    let configured = strategies[session.bundleId]
    guard let name = session.strategy ?? configured else { throw Self.unknownApp }
    let route = try table.route(strategy: name, consent: false)
    if let configured, configured != name, table.strategies[configured]?.isDataResidency == true {
      throw FieldError(field: "urlStrategy", reason: "must not be another strategy than that of the app, whose data must stay in a region")
    }
    return route.strategy
  }
}
