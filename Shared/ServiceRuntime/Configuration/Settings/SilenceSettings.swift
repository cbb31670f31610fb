/// The rule by which silence about a subscription is a gap (YAML `appStore`: `silence`, `silenceSweep`, `silenceBatch`).
public struct SilenceSettings: Sendable, Hashable {
  /// The time after a subscription's end without a notification that counts as a gap.
  public var after: Duration = .seconds(86_400)
  /// The interval of the search for such gaps.
  public var sweep: Duration = .seconds(30)
  /// The greatest number of subscriptions of a shard in one search.
  public var batch = 100

  public init() {}

  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    self.init()
    try node.time("silence", .zero..., &after)
    try node.time("silenceSweep", .milliseconds(100)..., &sweep)
    try node.count("silenceBatch", 1...10_000, &batch)
  }
}
