/// The section `migrations`: how long migrations are stored, how many of their failures, and how long unknown ids are looked up again.
public struct MigrationSettings: Sendable, Hashable {
  /// How long a migration is stored after its last step; at least 180 days while some of its receipts wait.
  public var kept: Duration = .seconds(90 * 86_400)
  /// The number of failures of a migration that are stored. Further failures are only counted.
  public var failures = 100_000
  /// How long after a receipt's arrival its ids are looked up again if Apple does not know them yet.
  public var unknownPatience: Duration = .seconds(15 * 60)

  public init() {}

  init(_ node: ConfigurationNode, _ unknown: inout [UnknownKey]) throws(ConfigurationError) {
    self.init()
    try node.time("kept", .seconds(3600)..., &kept)
    try node.count("failures", 0...10_000_000, &failures)
    try node.time("unknownPatience", .zero ... .seconds(86_400), &unknownPatience)
    unknown += node.unknownKeys(["kept", "failures", "unknownPatience"])
  }
}
