import Synchronization

/// Counts requests per app and endpoint for each (scaled) hour.
final class RateLimits: Sendable {
  private struct State {
    /// `environment/bundle/endpoint` → the start of its hour and the number of requests in it.
    var windows: [String: (start: Int64, count: Int)] = [:]
    /// Scripted limits, in requests per hour.
    var perHour: [APIEndpoint: Int] = [:]
  }
  private let state = Mutex(State())

  func set(_ endpoint: APIEndpoint, perHour: Int?) { state.withLock { $0.perHour[endpoint] = perHour } }

  func reset() { state.withLock { $0 = State() } }

  /// The time from which a call is allowed, in milliseconds since 1970; nil if it is allowed now.
  func blockedUntil(_ endpoint: APIEndpoint, bundleID: String, environment: AppStoreEnvironment, time: SimulatedTime)
    -> Int64?
  {
    let now = time.now
    let hour = Int64(max(1, 3_600_000 / time.scale))
    return state.withLock { state in
      let key = "\(environment.rawValue)/\(bundleID)/\(endpoint.rawValue)"
      let share = environment == .production ? endpoint.rate : endpoint.rate / 10
      let limit = state.perHour[endpoint] ?? Int(share * 3600)
      var window = state.windows[key] ?? (now, 0)
      if now - window.start >= hour { window = (now, 0) }
      guard window.count < limit else { return window.start + hour }
      window.count += 1
      state.windows[key] = window
      return nil
    }
  }
}
