/// When silence about a subscription is a gap (YAML `appStore`: `silence`, `silenceSweep`, `silenceBatch`).
public struct SilenceSettings: Sendable, Hashable {
  /// How long nothing may be heard past a subscription's end.
  public var after: Duration = .seconds(86_400)
  /// How often it is looked for such silence.
  public var sweep: Duration = .seconds(30)
  /// How many subscriptions of a shard one look takes at the most.
  public var batch = 100

  public init() {}

  init(_ node: ConfigurationNode) throws(ConfigurationError) {
    self.init()
    try node.time("silence", .zero..., &after)
    try node.time("silenceSweep", .milliseconds(100)..., &sweep)
    try node.count("silenceBatch", 1...10_000, &batch)
  }
}
