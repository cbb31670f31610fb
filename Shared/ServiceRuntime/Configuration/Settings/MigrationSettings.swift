/// How long and how much is known of migrations of receipts (YAML `migrations`).
public struct MigrationSettings: Sendable, Hashable {
  /// How long a migration can be read after its last step; while receipts of it wait, 180 days at least.
  public var kept: Duration = .seconds(90 * 86_400)
  /// How many failures of a migration are kept one by one; those beyond are counted.
  public var failures = 100_000

  public init() {}

  init(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    self.init()
    try node.time("kept", .seconds(3600)..., &kept)
    try node.count("failures", 0...10_000_000, &failures)
    unknown += node.unknownKeys(["kept", "failures"])
  }
}
