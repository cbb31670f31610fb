import Synchronization

/// Limits how many traces per second are recorded because requests to the public port ask for it in their `traceparent`
/// (`traces.publicParents`). Anyone can send such requests, and recording spans costs more than the requests.
final class ParentRate: Sendable {
  private struct State {
    var second: Int64 = 0
    /// The number of traces that were admitted in this second.
    var admitted = 0
  }

  private let perSecond: Int
  private let state = Mutex(State())

  init(perSecond: Int) { self.perSecond = perSecond }

  /// Returns true if one more trace may be recorded in the current second.
  ///
  /// - Parameter now: milliseconds since 1970.
  func take(now: Int64) -> Bool {
    state.withLock { state in
      if state.second != now / 1000 { state = State(second: now / 1000) }
      guard state.admitted < perSecond else { return false }
      state.admitted += 1
      return true
    }
  }
}
