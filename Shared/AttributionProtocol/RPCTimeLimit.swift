/// The default and the longest time limit of a call. The server reads `Connect-Timeout-Ms`, 1 to 10 digits, in `RPCExchange`.
public struct RPCTimeLimit: Sendable, Hashable {
  public let `default`: Duration
  public let maximum: Duration

  public init(default: Duration, maximum: Duration) {
    self.default = `default`
    self.maximum = maximum
  }
}
