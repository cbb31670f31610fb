/// The section `migrations`: how long migrations, and how many failures, are stored.
public struct MigrationSettings: Sendable, Hashable {
  /// How long a migration can be read after its last step; at least 180 days while receipts of it wait.
  public var kept: Duration = .seconds(90 * 86_400)
  /// The number of failures of a migration that are kept; further ones are only counted.
  public var failures = 100_000

  public init() {}

  init(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    self.init()
    try node.time("kept", .seconds(3600)..., &kept)
    try node.count("failures", 0...10_000_000, &failures)
    unknown += node.unknownKeys(["kept", "failures"])
  }
}
