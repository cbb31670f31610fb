/// The default and the longest time limit of a call.
public struct RPCTimeLimit: Sendable, Hashable {
  public let `default`: Duration
  public let maximum: Duration

  public init(default: Duration, maximum: Duration) {
    self.default = `default`
    self.maximum = maximum
  }
}
