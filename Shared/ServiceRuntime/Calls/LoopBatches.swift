public import AttributionProtocol
import EventLoops
import NIOCore
import Synchronization

/// Combines calls: the items of one turn of an event loop are sent as one call, up to a limit. A call for each item would cost more
/// processor time than the work that it asks for.
public final class LoopBatches<Item: Sendable, Response: Sendable>: Sendable {
  /// Returns the answers of all items, in order, within the time.
  public typealias Call = @Sendable ([Item], Duration) async throws(RPCError) -> [Response]

  private typealias Waiter = CheckedContinuation<Result<Response, RPCError>, Never>

  /// Only items whose times are in the same ``timeStep`` are sent as one call, because a call has the shortest time of its items.
  private struct Key: Hashable {
    let loop: ObjectIdentifier
    /// The number of the time step.
    let time: Int64
  }

  private struct Batch {
    var items: [Item] = []
    var waiters: [Waiter] = []
    var time: Duration
  }

  private static var timeStep: Duration { .milliseconds(20) }

  private let maxItems: Int
  private let call: Call
  private let batches = Mutex<[Key: Batch]>([:])

  /// - Parameter maxItems: the greatest number of items of one call.
  public init(maxItems: Int, _ call: @escaping Call) {
    self.maxItems = maxItems
    self.call = call
  }

  /// Asks for one item, combined with others of this thread's event loop; alone if this thread has none.
  public func ask(_ item: Item, within time: Duration) async throws(RPCError) -> Response {
    guard let executor = EventLoopExecutor.ofThisThread else { return try Self.one(try await call([item], time)) }
    let key = Key(loop: ObjectIdentifier(executor), time: Int64(time / Self.timeStep))
    let result: Result<Response, RPCError> = await withCheckedContinuation { waiter in
      let (isFirst, full) = batches.withLock { batches -> (Bool, Batch?) in
        var batch = batches.removeValue(forKey: key) ?? Batch(time: time)
        batch.items.append(item)
        batch.waiters.append(waiter)
        // No caller waits longer than it asked for.
        batch.time = min(batch.time, time)
        if batch.items.count >= maxItems { return (false, batch) }
        let isFirst = batch.items.count == 1
        batches[key] = batch
        return (isFirst, nil)
      }
      if let full {
        send(full, executor)
      } else if isFirst {
        // Runs after every task that is already queued for this turn of the event loop.
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
        let responses = try await call(batch.items, batch.time)
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

  private static var wrongCount: RPCError { RPCError(.internal, "a batch was answered by another number of results") }
}
