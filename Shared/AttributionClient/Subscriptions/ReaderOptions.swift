/// How a subscription is read.
public struct ReaderOptions: Sendable {
  /// How long an event is this reader's before it must be extended, 3 s to an hour. A reader that dies keeps its events from others so long.
  public var lease: Duration = .seconds(30)
  /// Events that are held at a time, the one that is worked among them; 1 to 1,000. Few where each takes long: others have the rest.
  public var held = 100
  /// How long one call waits for a first event, up to 30 s.
  public var wait: Duration = .seconds(20)
  /// How long to go on asking a server that does not answer; for ever where nil.
  public var patience: Duration?

  public init() {}

  public init(lease: Duration = .seconds(30), held: Int = 100, wait: Duration = .seconds(20), patience: Duration? = nil) {
    self.lease = lease
    self.held = held
    self.wait = wait
    self.patience = patience
  }

  /// Within what the contract allows.
  var bounded: ReaderOptions {
    ReaderOptions(
      lease: min(max(lease, .seconds(3)), .seconds(3600)), held: min(max(held, 1), 1000),
      wait: min(max(wait, .zero), .seconds(30)), patience: patience)
  }
}
