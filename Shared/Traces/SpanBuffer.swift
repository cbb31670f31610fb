import Synchronization

/// Spans that ended and were not exported yet. What finds no room is dropped and counted: a collector that is away costs neither memory nor
/// time of a request.
public final class SpanBuffer: Sendable {
  private struct State {
    var spans: [FinishedSpan] = []
    var dropped: UInt64 = 0
  }

  /// Spans that are held at the most.
  public let capacity: Int
  /// So many are worth an export at once.
  public let batch: Int
  private let signal: AsyncStream<Void>.Continuation
  /// Tells when it is time to export: a batch is full, or ``wake()`` was called.
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

  /// Has what is there exported.
  public func wake() { signal.yield() }

  /// The oldest spans, a batch at the most; they are held here no more.
  public func take() -> [FinishedSpan] {
    state.withLock { state in
      let taken = Array(state.spans.prefix(batch))
      state.spans.removeFirst(taken.count)
      return taken
    }
  }

  public var count: Int { state.withLock { $0.spans.count } }
  /// How many found no room since the start.
  public var dropped: UInt64 { state.withLock { $0.dropped } }
}
