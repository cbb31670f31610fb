import NIOCore
import Synchronization

/// Backpressure on reading: limits how many messages that were read wait on an event loop for their work. Messages that wait for long have
/// left the processor's caches when they are processed.
final class ReadBackpressure: Sendable {
  private struct State {
    var count = 0
    var waiting = CircularBuffer<(count: Int, continuation: CheckedContinuation<Void, Never>)>()
  }

  private let bound: Int
  private let state = Mutex(State())

  init(bound: Int) { self.bound = bound }

  /// Returns when fewer messages wait than the bound, and counts `count` more as waiting. Callers are served in order.
  func reserve(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let hasRoom = state.withLock { state in
        guard state.count < bound, state.waiting.isEmpty else {
          state.waiting.append((count, continuation))
          return false
        }
        state.count += count
        return true
      }
      if hasRoom { continuation.resume() }
    }
  }

  /// Reserves without waiting; returns false, and counts nothing, if the caller would have to wait.
  func reserveAtOnce(_ count: Int) -> Bool {
    state.withLock { state in
      guard state.count < bound, state.waiting.isEmpty else { return false }
      state.count += count
      return true
    }
  }

  /// The number of callers that wait in ``reserve(_:)``.
  var waiting: Int { state.withLock { $0.waiting.count } }

  /// Removes messages from the count, because their work began or they were not read after all.
  func release(_ count: Int) {
    let admitted = state.withLock { state in
      state.count -= count
      var admitted: [CheckedContinuation<Void, Never>] = []
      while state.count < bound, let next = state.waiting.popFirst() {
        state.count += next.count
        admitted.append(next.continuation)
      }
      return admitted
    }
    for continuation in admitted { continuation.resume() }
  }
}
