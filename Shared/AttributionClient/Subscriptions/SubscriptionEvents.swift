/// The events of a subscription as an endless sequence. It pulls events, extends leases while events are processed, and acknowledges each
/// event when the next one is requested.
///
/// - Each event is delivered at least once. A repeated event has the same `id`.
/// - Leaving the loop, also by an error, releases the current event, unless it was acknowledged, and the events that were not begun.
/// - The sequence ends when its task is cancelled. It throws permanent errors, such as an unknown subscription. While the server is
///   unavailable, it waits, as long as `ReaderOptions.patience` allows.
/// - Any number of readers, in any number of processes, share the events of one subscription.
public struct SubscriptionEvents: AsyncSequence, Sendable {
  public typealias Element = ReceivedEvent
  public typealias Failure = any Error
  let events: EventsServiceClient
  let subscription: String
  let options: ReaderOptions

  public func makeAsyncIterator() -> Iterator { Iterator(ReaderCore(events, subscription, options)) }

  /// The iterator of one loop.
  public struct Iterator: AsyncIteratorProtocol {
    private let reader: RunningReader

    init(_ core: ReaderCore) { reader = RunningReader(core) }

    public mutating func next() async throws -> ReceivedEvent? { try await reader.core.next() }
  }
}

/// A reader whose leases are extended while this object exists. The iterator of a loop owns it.
private final class RunningReader: Sendable {
  let core: ReaderCore
  private let leaseTask: Task<Void, Never>

  init(_ core: ReaderCore) {
    self.core = core
    leaseTask = Task { await core.keepLeases() }
  }

  // Nothing else reports that a loop was left. If the calls fail, the leases expire.
  deinit {
    leaseTask.cancel()
    let core = core
    Task { await core.end() }
  }
}

extension EventsServiceClient {
  /// The events of a pulled subscription as a sequence.
  public func received(from subscription: String, _ options: ReaderOptions = ReaderOptions()) -> SubscriptionEvents {
    SubscriptionEvents(events: self, subscription: subscription, options: options)
  }

  /// Processes each event of a subscription, one after the other, until the task is cancelled or `work` throws. Before it returns, it tries
  /// once to send all acknowledgements, so it is suitable for processes that end afterwards.
  public func consume(
    _ subscription: String, _ options: ReaderOptions = ReaderOptions(), _ work: (ReceivedEvent) async throws -> Void
  ) async throws {
    let core = ReaderCore(self, subscription, options)
    let leaseTask = Task { await core.keepLeases() }
    let result: Result<Void, any Error>
    do {
      while let received = try await core.next() { try await work(received) }
      result = .success(())
    } catch {
      result = .failure(error)
    }
    leaseTask.cancel()
    // A separate task, because this one may be cancelled.
    await Task { await core.end() }.value
    try result.get()
  }
}
