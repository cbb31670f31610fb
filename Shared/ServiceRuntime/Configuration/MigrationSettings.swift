/// How long and how much is known of migrations of receipts (YAML `migrations`).
public struct MigrationSettings: Sendable, Hashable {
  /// How long a migration can be read after its last step.
  public var kept: Duration = .seconds(90 * 86_400)
  /// How many failures of a migration are kept one by one; those beyond are counted.
  public var failures = 100_000

  public init() {}

  init(_ node: ConfigurationNode, _ unknown: inout [String]) throws(ConfigurationError) {
    self.init()
    if let child = node["kept"] {
      kept = try child.duration()
      guard kept >= .seconds(3600) else { throw ConfigurationError(child.path, "must be at least 1h") }
    }
    if let child = node["failures"] {
      let count = try child.integer()
      guard (0...10_000_000).contains(count) else { throw ConfigurationError(child.path, "must be 0 to 10000000") }
      failures = Int(count)
    }
    unknown += node.unknownKeys(["kept", "failures"])
  }
}
