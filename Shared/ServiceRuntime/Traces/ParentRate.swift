import Synchronization

/// Limits how many traces per second callers of the public port may have recorded, because spans cost more than requests.
final class ParentRate: Sendable {
  private struct State {
    var second: Int64 = 0
    var taken = 0
  }

  private let perSecond: Int
  private let state = Mutex(State())

  init(perSecond: Int) { self.perSecond = perSecond }

  /// - Parameter now: milliseconds since 1970.
  func take(now: Int64) -> Bool {
    state.withLock { state in
      if state.second != now / 1000 { state = State(second: now / 1000) }
      guard state.taken < perSecond else { return false }
      state.taken += 1
      return true
    }
  }
}
