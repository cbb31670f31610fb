import Synchronization

/// Finished spans that are not exported yet. A span that does not fit is dropped and counted. So an unavailable collector costs no more
/// memory than `capacity` spans, and no request waits for it.
public final class SpanBuffer: Sendable {
  private struct State {
    var spans: [FinishedSpan] = []
    var dropped: UInt64 = 0
  }

  /// The greatest number of spans in the buffer.
  public let capacity: Int
  /// The greatest number of spans of one export.
  public let maxBatchSize: Int
  private let signal: AsyncStream<Void>.Continuation
  /// Signals that it is time to export: a batch is full, or ``wake()`` was called.
  public let signals: AsyncStream<Void>
  private let state = Mutex(State())

  public init(capacity: Int, maxBatchSize: Int) {
    self.capacity = capacity
    self.maxBatchSize = min(maxBatchSize, capacity)
    (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  func add(_ span: FinishedSpan) {
    let isBatchFull = state.withLock { state in
      guard state.spans.count < capacity else {
        state.dropped += 1
        return false
      }
      state.spans.append(span)
      return state.spans.count % maxBatchSize == 0
    }
    if isBatchFull { signal.yield() }
  }

  /// Signals that the remaining spans are to be exported.
  public func wake() { signal.yield() }

  /// Removes and returns the oldest spans, at most ``maxBatchSize``.
  public func take() -> [FinishedSpan] {
    state.withLock { state in
      let oldest = Array(state.spans.prefix(maxBatchSize))
      state.spans.removeFirst(oldest.count)
      return oldest
    }
  }

  /// The number of spans in the buffer.
  public var count: Int { state.withLock { $0.spans.count } }
  /// The number of spans dropped since the start.
  public var dropped: UInt64 { state.withLock { $0.dropped } }
}
