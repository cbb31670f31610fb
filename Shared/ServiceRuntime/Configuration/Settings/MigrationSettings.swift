/// The section `migrations`: how long migrations are stored, and how many of their failures.
public struct MigrationSettings: Sendable, Hashable {
  /// How long a migration is stored after its last step; at least 180 days while some of its receipts wait.
  public var kept: Duration = .seconds(90 * 86_400)
  /// The number of failures of a migration that are stored. Further failures are only counted.
  public var failures = 100_000

  public init() {}

  init(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    self.init()
    try node.time("kept", .seconds(3600)..., &kept)
    try node.count("failures", 0...10_000_000, &failures)
    unknown += node.unknownKeys(["kept", "failures"])
  }
}
