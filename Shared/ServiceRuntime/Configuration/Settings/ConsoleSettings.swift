/// The pages that verifier shows people (YAML `console`).
public struct ConsoleSettings: Sendable, Hashable {
  /// Whether there are any.
  public var isEnabled = true
  /// After which a reader has to sign in again.
  public var session: Duration = .seconds(3600)

  public init() {}

  init(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    self.init()
    isEnabled = try node["enabled"]?.bool() ?? isEnabled
    try node.time("session", .seconds(1)...(.seconds(86_400)), &session)
    unknown += node.unknownKeys(["enabled", "session"])
  }
}
