/// The options of reading a subscription.
public struct ReaderOptions: Sendable {
  /// The lease of an event, 3 s to an hour. The library extends it while the event is processed or waits in this process. If the process
  /// dies, other readers get its events after this time.
  public var lease: Duration = .seconds(30)
  /// The number of events that this reader leases at a time, including the one that is being processed; 1 to 1,000. Choose a small number
  /// if each event takes long, so that other readers get the rest.
  public var held = 100
  /// The time for which one call waits if there are no events, up to 30 s.
  public var wait: Duration = .seconds(20)
  /// The time for which failing calls are repeated before the error is thrown; nil for no limit.
  public var patience: Duration?

  public init() {}

  public init(lease: Duration = .seconds(30), held: Int = 100, wait: Duration = .seconds(20), patience: Duration? = nil) {
    self.lease = lease
    self.held = held
    self.wait = wait
    self.patience = patience
  }

  /// The options within the limits of the contract.
  var limited: ReaderOptions {
    ReaderOptions(
      lease: min(max(lease, .seconds(3)), .seconds(3600)), held: min(max(held, 1), 1000),
      wait: min(max(wait, .zero), .seconds(30)), patience: patience)
  }
}
