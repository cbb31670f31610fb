/// The rule that decides when silence about a subscription is a gap: the keys `silence`, `silenceSweep` and `silenceBatch` of the section
/// `appStore`.
public struct SilenceSettings: Sendable, Hashable {
  /// How long after a subscription's end, without a notification about it, a gap is assumed.
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
