import Synchronization

/// Counts the requests of each app to each endpoint and environment, in hours of simulated time.
final class RateLimits: Sendable {
  private struct State {
    /// The start of the current hour, and the number of requests in it, by `environment/bundle/endpoint`.
    var windows: [String: (start: Int64, count: Int)] = [:]
    /// Limits that a control request has set, in requests per hour. They replace Apple's.
    var perHour: [APIEndpoint: Int] = [:]
  }
  private let state = Mutex(State())

  /// - Parameter perHour: nil restores Apple's limit.
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
      let perSecond = environment == .production ? endpoint.rate : endpoint.rate / 10
      let limit = state.perHour[endpoint] ?? Int(perSecond * 3600)
      var window = state.windows[key] ?? (now, 0)
      if now - window.start >= hour { window = (now, 0) }
      guard window.count < limit else { return window.start + hour }
      window.count += 1
      state.windows[key] = window
      return nil
    }
  }
}
