/// What an instance of verifier does beside answering calls (`ATTRIBUTION_VERIFIER_ROLES`).
public enum VerifierRole: String, Sendable, Hashable, CaseIterable {
  /// Works the intake queue, and keeps the feed and the histories in order.
  case verify
  /// Pushes events to endpoints.
  case push

  /// Reads names with commas between them; all where nothing is said.
  static func roles(_ text: String?) throws(ConfigurationError) -> Set<VerifierRole> {
    guard let text else { return Set(allCases) }
    var roles: Set<VerifierRole> = []
    for name in text.split(separator: ",") {
      guard let role = VerifierRole(rawValue: name.trimmingSpaces()) else {
        throw ConfigurationError("ATTRIBUTION_VERIFIER_ROLES", "must be verify, push, or both with a comma between them")
      }
      roles.insert(role)
    }
    return roles
  }
}
