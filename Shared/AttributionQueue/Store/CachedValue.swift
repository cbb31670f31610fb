import Synchronization

/// A value that is read from Redis and cached for a short time. One caller at a time refreshes it; the others use the cached value
/// meanwhile.
final class CachedValue<Value: Sendable>: Sendable {
  private struct State {
    /// The cached value and when it was read; nil before the first read.
    var cached: (value: Value, at: ContinuousClock.Instant)?
    /// True while a caller refreshes the value.
    var isRefreshing = false
  }

  private let interval: Duration
  private let maxAge: Duration
  private let read: @Sendable () async throws(QueueError) -> Value
  private let state = Mutex(State())

  /// - Parameters:
  ///   - interval: the age at which one caller refreshes the value.
  ///   - maxAge: the age up to which the other callers still use the value during a refresh. Above this age, each caller reads it itself.
  init(interval: Duration, maxAge: Duration, read: @escaping @Sendable () async throws(QueueError) -> Value) {
    self.interval = interval
    self.maxAge = maxAge
    self.read = read
  }

  var value: Value {
    get async throws(QueueError) {
      let usable: Value? = state.withLock { state in
        if let cached = state.cached, cached.at.duration(to: .now) < (state.isRefreshing ? maxAge : interval) { return cached.value }
        state.isRefreshing = true
        return nil
      }
      if let usable { return usable }
      do throws(QueueError) {
        let value = try await read()
        state.withLock { $0 = State(cached: (value, .now)) }
        return value
      } catch {
        // The value is stored on one node of a cluster. While that node is unavailable the last value is used, so that shards on other
        // nodes can still be worked. Any other error is thrown.
        let cached = state.withLock { state in
          state = State(cached: state.cached.map { ($0.value, .now) })
          return state.cached
        }
        guard let cached, case .unavailable = error else { throw error }
        return cached.value
      }
    }
  }
}
