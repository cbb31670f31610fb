import Synchronization

/// The calls of methods that wait for something to happen (``RPCHandler/waits``). ``DrainGate`` ends them, so that they do not delay the
/// drain.
final class WaitingCalls: Sendable {
  private struct State {
    var calls: [ObjectIdentifier: TimedCall] = [:]
    var isEnded = false
  }

  private let state = Mutex(State())

  func add(_ call: TimedCall) {
    let isEnded = state.withLock { state -> Bool in
      state.calls[ObjectIdentifier(call)] = call
      return state.isEnded
    }
    if isEnded { call.cancel() }
  }

  func remove(_ call: TimedCall) { state.withLock { _ = $0.calls.removeValue(forKey: ObjectIdentifier(call)) } }

  /// Cancels all calls, and those that are added later. They answer with the current state.
  func end() {
    let calls = state.withLock { state -> [TimedCall] in
      state.isEnded = true
      return Array(state.calls.values)
    }
    for call in calls { call.cancel() }
  }
}
