public import AttributionProtocol
import EventLoops
import NIOCore
import Synchronization

/// Combines items into calls of a batch method: the items that are asked for in one turn of an event loop are sent as one call, up to a
/// limit. A call for each item would cost more processor time than the work for the item. Ingest uses it for signatures
/// (`OfferSigning.swift`).
public final class LoopBatches<Item: Sendable, Response: Sendable>: Sendable {
  /// Sends a call with these items and this timeout, and returns the responses of all items in order.
  public typealias Call = @Sendable ([Item], Duration) async throws(RPCError) -> [Response]

  private typealias Waiter = CheckedContinuation<Result<Response, RPCError>, Never>

  /// Items are sent as one call only if their timeouts are in the same ``timeStep``. A call has the shortest timeout of its items, so an
  /// item with a long timeout would fail together with one with a short timeout.
  private struct Key: Hashable {
    let loop: ObjectIdentifier
    /// The timeout in whole time steps.
    let step: Int64
  }

  private struct Batch {
    var items: [Item] = []
    var waiters: [Waiter] = []
    var timeout: Duration
  }

  private static var timeStep: Duration { .milliseconds(20) }

  private let maxItems: Int
  private let call: Call
  private let batches = Mutex<[Key: Batch]>([:])

  /// - Parameter maxItems: the maximum number of items of one call.
  public init(maxItems: Int, _ call: @escaping Call) {
    self.maxItems = maxItems
    self.call = call
  }

  /// Returns the response for one item. The item is combined with others of this thread's event loop; on a thread without an event loop it
  /// is sent alone.
  public func ask(_ item: Item, within timeout: Duration) async throws(RPCError) -> Response {
    guard let executor = EventLoopExecutor.ofThisThread else { return try Self.one(try await call([item], timeout)) }
    let key = Key(loop: ObjectIdentifier(executor), step: Int64(timeout / Self.timeStep))
    let result: Result<Response, RPCError> = await withCheckedContinuation { waiter in
      let (isFirst, full) = batches.withLock { batches -> (Bool, Batch?) in
        var batch = batches.removeValue(forKey: key) ?? Batch(timeout: timeout)
        batch.items.append(item)
        batch.waiters.append(waiter)
        // No caller waits longer than its own timeout.
        batch.timeout = min(batch.timeout, timeout)
        if batch.items.count >= maxItems { return (false, batch) }
        let isFirst = batch.items.count == 1
        batches[key] = batch
        return (isFirst, nil)
      }
      if let full {
        send(full, executor)
      } else if isFirst {
        // This closure runs after everything that is already queued on the event loop, so those tasks can add items first.
        executor.loop.execute {
          if let batch = self.batches.withLock({ $0.removeValue(forKey: key) }) { self.send(batch, executor) }
        }
      }
    }
    return try result.get()
  }

  private func send(_ batch: Batch, _ executor: EventLoopExecutor) {
    Task.immediate(executorPreference: executor) { [call] in
      let results: [Result<Response, RPCError>]
      do throws(RPCError) {
        let responses = try await call(batch.items, batch.timeout)
        guard responses.count == batch.items.count else { throw Self.wrongCount }
        results = responses.map { .success($0) }
      } catch {
        results = batch.items.map { _ in .failure(error) }
      }
      for (waiter, result) in zip(batch.waiters, results) { waiter.resume(returning: result) }
    }
  }

  private static func one(_ responses: [Response]) throws(RPCError) -> Response {
    guard responses.count == 1, let response = responses.first else { throw wrongCount }
    return response
  }

  private static var wrongCount: RPCError { RPCError(.internal, "a batch was answered with another number of results than it has items") }
}
