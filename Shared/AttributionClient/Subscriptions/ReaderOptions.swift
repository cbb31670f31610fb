/// The options of reading a subscription.
public struct ReaderOptions: Sendable {
  /// The lease of an event before it must be extended, 3 s to an hour. If a reader dies, other readers get its events after this time.
  public var lease: Duration = .seconds(30)
  /// The number of events that are leased at a time, including the current one; 1 to 1,000. Choose few if each takes long, so that other
  /// readers get the rest.
  public var held = 100
  /// The time that one call waits for a first event, up to 30 s.
  public var wait: Duration = .seconds(20)
  /// How long to retry while the server does not answer; nil: for ever.
  public var patience: Duration?

  public init() {}

  public init(lease: Duration = .seconds(30), held: Int = 100, wait: Duration = .seconds(20), patience: Duration? = nil) {
    self.lease = lease
    self.held = held
    self.wait = wait
    self.patience = patience
  }

  /// The options limited to what the contract allows.
  var bounded: ReaderOptions {
    ReaderOptions(
      lease: min(max(lease, .seconds(3)), .seconds(3600)), held: min(max(held, 1), 1000),
      wait: min(max(wait, .zero), .seconds(30)), patience: patience)
  }
}
