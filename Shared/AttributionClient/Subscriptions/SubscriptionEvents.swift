/// The events of a subscription, for ever: a sequence that pulls, extends leases while events are worked, and acknowledges each event when the
/// next one is asked for.
///
/// - An event comes at least once; its `id` tells whether it came before.
/// - Leaving the loop, by an error too, gives back the event that was being worked, unless it was acknowledged, and those that were not begun.
/// - The sequence ends when its task is cancelled. It throws what does not pass by itself, such as a subscription that does not exist; a server
///   that is away is waited for.
/// - Any number of readers, in any number of processes, share the events of one subscription.
public struct SubscriptionEvents: AsyncSequence, Sendable {
  public typealias Element = ReceivedEvent
  public typealias Failure = any Error
  let events: EventsServiceClient
  let subscription: String
  let options: ReaderOptions

  public func makeAsyncIterator() -> Iterator { Iterator(ReaderCore(events, subscription, options)) }

  /// Reads; one loop's.
  public struct Iterator: AsyncIteratorProtocol {
    private let reader: RunningReader

    init(_ core: ReaderCore) { reader = RunningReader(core) }

    public mutating func next() async throws -> ReceivedEvent? { try await reader.core.next() }
  }
}

/// A reader whose leases are extended while it is there.
private final class RunningReader: Sendable {
  let core: ReaderCore
  private let keeping: Task<Void, Never>

  init(_ core: ReaderCore) {
    self.core = core
    keeping = Task { await core.keep() }
  }

  // A loop that is left tells nobody but by this; what it tells may not come through, and then leases run out.
  deinit {
    keeping.cancel()
    let core = core
    Task { await core.end() }
  }
}

extension EventsServiceClient {
  /// The events of a subscription that is pulled, as a sequence.
  public func received(from subscription: String, _ options: ReaderOptions = ReaderOptions()) -> SubscriptionEvents {
    SubscriptionEvents(events: self, subscription: subscription, options: options)
  }

  /// Has each event of a subscription worked, one after the other, until the task is cancelled or `work` throws. Returns when the server was
  /// told of all that was worked: what a process that ends by itself should use.
  public func consume(
    _ subscription: String, _ options: ReaderOptions = ReaderOptions(), _ work: (ReceivedEvent) async throws -> Void
  ) async throws {
    let core = ReaderCore(self, subscription, options)
    let keeping = Task { await core.keep() }
    let result: Result<Void, any Error>
    do {
      while let received = try await core.next() { try await work(received) }
      result = .success(())
    } catch {
      result = .failure(error)
    }
    keeping.cancel()
    // Also where this task was cancelled: a task of its own is not.
    await Task { await core.end() }.value
    try result.get()
  }
}
