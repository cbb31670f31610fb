import NIOCore
import Synchronization

/// How many messages that were read wait to be begun on an event loop. Shards read on when there is room: what waits long is no longer in
/// the processor's caches when it is worked.
final class ReadBackpressure: Sendable {
  private struct State {
    var count = 0
    var waiting = CircularBuffer<(count: Int, continuation: CheckedContinuation<Void, Never>)>()
  }

  private let bound: Int
  private let state = Mutex(State())

  init(bound: Int) { self.bound = bound }

  /// Returns when fewer wait than the bound: then so many more may be read, and count as if they were here. Who asks gets it in
  /// turn.
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

  /// The same where nobody has to wait for it; false otherwise, and nothing counts.
  func reserveAtOnce(_ count: Int) -> Bool {
    state.withLock { state in
      guard state.count < bound, state.waiting.isEmpty else { return false }
      state.count += count
      return true
    }
  }

  /// How many wait for room.
  var waiting: Int { state.withLock { $0.waiting.count } }

  /// So many were begun, or did not come.
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
