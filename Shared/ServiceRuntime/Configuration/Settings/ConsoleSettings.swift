/// The section `console`: verifier's web pages for people.
public struct ConsoleSettings: Sendable, Hashable {
  /// True if the console is served.
  public var isEnabled = true
  /// The time after which a user must sign in again.
  public var session: Duration = .seconds(3600)

  public init() {}

  init(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    self.init()
    isEnabled = try node["enabled"]?.bool() ?? isEnabled
    try node.time("session", .seconds(1)...(.seconds(86_400)), &session)
    unknown += node.unknownKeys(["enabled", "session"])
  }
}
