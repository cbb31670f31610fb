/// The time limits of a method's calls: the default, and the longest that a caller may ask for with the header `Connect-Timeout-Ms`, which
/// the server reads in `RPCExchange`.
public struct RPCTimeLimit: Sendable, Hashable {
  public let `default`: Duration
  public let maximum: Duration

  public init(default: Duration, maximum: Duration) {
    self.default = `default`
    self.maximum = maximum
  }
}
