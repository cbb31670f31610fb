import AppleAttribution
import WireJSON

/// Which strategy an app's sessions follow, and what goes out with them.
struct SessionRouting: Sendable {
  let table: ConsentRoutingTable
  let filter: ConsentFilter
  /// Strategy by bundle id, for every app of the configuration.
  let strategies: [String: String]

  /// Of an app that is none of ours, where nothing else says where its sessions go.
  static let unknownApp = FieldError(field: "bundleId", reason: "is no configured app")

  func isConfigured(_ bundleId: String) -> Bool { strategies[bundleId] != nil }

  /// Throws ``FieldError`` unless a status of an app that is none of ours names a known strategy, as its first session has to.
  func checkStatus(_ body: JSONObject) throws(FieldError) {
    guard let strategy = try SessionSubmission.strategy(in: body) else { throw Self.unknownApp }
    _ = try table.route(strategy: strategy, consent: false)
  }

  /// The strategy of a session. Throws ``FieldError`` when it names an unknown one, when its app is none of ours and it
  /// names none, or when it would leave the region that its app's configuration keeps it in.
  func strategy(for session: SessionSubmission) throws(FieldError) -> String {
    let configured = strategies[session.bundleId]
    guard let asked = session.strategy ?? configured else { throw Self.unknownApp }
    let route = try table.route(strategy: asked, consent: false)
    if let configured, configured != asked, let kept = table.strategies[configured], kept.isDataResidency {
      throw FieldError(field: "urlStrategy", reason: "would leave the region that this app's data is kept in")
    }
    return route.strategy
  }
}
