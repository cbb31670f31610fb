import Synchronization

/// An answer of Redis that is asked for anew when it is old. One caller asks at a time: the others go by what was last heard.
final class CachedAnswer<Value: Sendable>: Sendable {
  private struct State {
    /// What was last heard, and when; nil: nothing yet.
    var heard: (value: Value, at: ContinuousClock.Instant)?
    var isAsking = false
  }

  private let interval: Duration
  private let longest: Duration
  private let ask: @Sendable () async throws(QueueError) -> Value
  private let state = Mutex(State())

  /// - Parameters:
  ///   - interval: how old an answer may be before one caller asks again.
  ///   - longest: how old the others' answer may be meanwhile. After a longer silence each asks for itself.
  init(interval: Duration, longest: Duration, ask: @escaping @Sendable () async throws(QueueError) -> Value) {
    self.interval = interval
    self.longest = longest
    self.ask = ask
  }

  var value: Value {
    get async throws(QueueError) {
      let known: Value? = state.withLock { state in
        if let heard = state.heard, heard.at.duration(to: .now) < (state.isAsking ? longest : interval) { return heard.value }
        state.isAsking = true
        return nil
      }
      if let known { return known }
      do throws(QueueError) {
        let value = try await ask()
        state.withLock { $0 = State(heard: (value, .now)) }
        return value
      } catch {
        // The value lies in one shard, whose node may be away while other nodes answer: the last value counts until that node is back.
        // Any other error is thrown.
        let heard = state.withLock { state in
          state = State(heard: state.heard.map { ($0.value, .now) })
          return state.heard
        }
        guard let heard, case .unavailable = error else { throw error }
        return heard.value
      }
    }
  }
}
