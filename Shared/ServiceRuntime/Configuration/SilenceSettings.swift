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
    after = try node["silence"]?.duration() ?? after
    if let child = node["silenceSweep"] {
      sweep = try child.duration()
      guard sweep >= .milliseconds(100) else { throw ConfigurationError(child.path, "must be at least 100ms") }
    }
    if let child = node["silenceBatch"] {
      let count = try child.integer()
      guard (1...10_000).contains(count) else { throw ConfigurationError(child.path, "must be 1 to 10000") }
      batch = Int(count)
    }
  }
}
