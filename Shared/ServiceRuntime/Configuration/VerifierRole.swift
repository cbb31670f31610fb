/// What an instance of verifier does in addition to answering calls (`ATTRIBUTION_VERIFIER_ROLES`).
public enum VerifierRole: String, Sendable, Hashable, CaseIterable {
  /// Works the intake queue, and maintains the feed and the histories of subscriptions.
  case verify
  /// Pushes events to endpoints.
  case push

  /// Parses names separated by commas; nil means all roles.
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
