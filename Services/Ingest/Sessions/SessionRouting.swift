import AppleAttribution
import WireJSON

/// Chooses the strategy of a session. Holds the table of hosts and the filter of fields.
struct SessionRouting: Sendable {
  let table: ConsentRoutingTable
  let filter: ConsentFilter
  /// The strategy of each configured app, by bundle id.
  let strategies: [String: String]

  /// The error for an app that is not configured and a session that names no strategy.
  static let unknownApp = FieldError(field: "bundleId", reason: "is not a configured app")

  func isConfigured(_ bundleId: String) -> Bool { strategies[bundleId] != nil }

  /// Checks a status of an app that is not configured: like the app's first session, it must name a known strategy. Throws ``FieldError``.
  func checkStatus(_ body: JSONObject) throws(FieldError) {
    guard let strategy = try SessionSubmission.strategy(in: body) else { throw Self.unknownApp }
    _ = try table.route(strategy: strategy, consent: false)
  }

  /// The strategy of a session. Throws ``FieldError`` if the session names an unknown one, if its app is not configured and it names none,
  /// or if the strategy would leave the region that the app's configuration requires.
  func strategy(for session: SessionSubmission) throws(FieldError) -> String {
    let configured = strategies[session.bundleId]
    guard let asked = session.strategy ?? configured else { throw Self.unknownApp }
    let route = try table.route(strategy: asked, consent: false)
    if let configured, configured != asked, let kept = table.strategies[configured], kept.isDataResidency {
      throw FieldError(field: "urlStrategy", reason: "names another region than the one in which this app's data must stay")
    }
    return route.strategy
  }
}
