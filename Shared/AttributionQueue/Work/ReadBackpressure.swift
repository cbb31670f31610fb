import NIOCore
import Synchronization

/// Backpressure on reading: limits how many messages of an event loop are read and wait for the handler. The content of messages that wait
/// for long is no longer in the processor's caches when they are handled.
final class ReadBackpressure: Sendable {
  private struct State {
    /// The number of messages that wait.
    var count = 0
    /// Callers of ``reserve(_:)`` that wait, in order.
    var waiting = CircularBuffer<(count: Int, continuation: CheckedContinuation<Void, Never>)>()
  }

  private let limit: Int
  private let state = Mutex(State())

  init(limit: Int) { self.limit = limit }

  /// Waits until fewer messages than the limit wait, and then counts `count` more. Callers are served in order. The limit may be exceeded
  /// by the last reservation.
  func reserve(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isAdmitted = state.withLock { state in
        guard state.count < limit, state.waiting.isEmpty else {
          state.waiting.append((count, continuation))
          return false
        }
        state.count += count
        return true
      }
      if isAdmitted { continuation.resume() }
    }
  }

  /// Reserves without waiting; returns false, and counts nothing, if the caller would have to wait.
  func tryReserve(_ count: Int) -> Bool {
    state.withLock { state in
      guard state.count < limit, state.waiting.isEmpty else { return false }
      state.count += count
      return true
    }
  }

  /// The number of callers that wait in ``reserve(_:)``.
  var waiting: Int { state.withLock { $0.waiting.count } }

  /// Removes messages from the count, because they are being handled now or were not read after all.
  func release(_ count: Int) {
    let admitted = state.withLock { state in
      state.count -= count
      var admitted: [CheckedContinuation<Void, Never>] = []
      while state.count < limit, let next = state.waiting.popFirst() {
        state.count += next.count
        admitted.append(next.continuation)
      }
      return admitted
    }
    for continuation in admitted { continuation.resume() }
  }
}
