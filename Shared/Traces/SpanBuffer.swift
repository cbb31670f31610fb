import Synchronization

/// Finished spans that were not exported yet. Spans that do not fit are dropped and counted, so that an unavailable collector costs
/// requests neither memory nor time.
public final class SpanBuffer: Sendable {
  private struct State {
    var spans: [FinishedSpan] = []
    var dropped: UInt64 = 0
  }

  /// The greatest number of spans.
  public let capacity: Int
  /// The number of spans of one export.
  public let batch: Int
  private let signal: AsyncStream<Void>.Continuation
  /// Signals that it is time to export: a batch is full, or ``wake()`` was called.
  public let signals: AsyncStream<Void>
  private let state = Mutex(State())

  public init(capacity: Int, batch: Int) {
    self.capacity = capacity
    self.batch = min(batch, capacity)
    (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  func add(_ span: FinishedSpan) {
    let fills = state.withLock { state in
      guard state.spans.count < capacity else {
        state.dropped += 1
        return false
      }
      state.spans.append(span)
      return state.spans.count % batch == 0
    }
    if fills { signal.yield() }
  }

  /// Requests an export of the remaining spans.
  public func wake() { signal.yield() }

  /// Removes and returns the oldest spans, at most a batch.
  public func take() -> [FinishedSpan] {
    state.withLock { state in
      let taken = Array(state.spans.prefix(batch))
      state.spans.removeFirst(taken.count)
      return taken
    }
  }

  public var count: Int { state.withLock { $0.spans.count } }
  /// The number of spans dropped since the start.
  public var dropped: UInt64 { state.withLock { $0.dropped } }
}
