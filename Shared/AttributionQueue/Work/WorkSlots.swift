import Synchronization

/// Limits how many shards an event loop works at once. Only one task may take slots; any task may give them back.
final class WorkSlots: Sendable {
  private struct State {
    var free: Int
    var waiting: CheckedContinuation<Void, Never>?
  }
  private let state: Mutex<State>

  init(_ count: Int) { state = Mutex(State(free: max(1, count))) }

  /// Waits until a slot is free, and takes it. A cancellation does not end the wait. The wait ends in any case, because every slot is given
  /// back.
  func take() async {
    let isFree = state.withLock { state in
      guard state.free > 0 else { return false }
      state.free -= 1
      return true
    }
    guard !isFree else { return }
    await withCheckedContinuation { continuation in
      let isFree = state.withLock { state in
        guard state.free > 0 else {
          state.waiting = continuation
          return false
        }
        state.free -= 1
        return true
      }
      if isFree { continuation.resume() }
    }
  }

  /// True if a task waits for a slot.
  var isAwaited: Bool { state.withLock { $0.waiting != nil } }

  /// Gives a slot back.
  func giveBack() {
    let waiting = state.withLock { state in
      let waiting = state.waiting
      state.waiting = nil
      if waiting == nil { state.free += 1 }
      return waiting
    }
    waiting?.resume()
  }
}
