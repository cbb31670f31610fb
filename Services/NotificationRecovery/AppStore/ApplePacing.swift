import AppStore
import AttributionQueue
import RedisClient
import ServiceRuntime
import Synchronization
import UpstreamPacing

/// Keeps the calls of all instances together within Apple's rate limits (`AppStoreRateBudget`), and stops calls to a server that mostly
/// fails. The rate limits and the circuit breakers are in Redis: see `SharedRateLimit` and `SharedCircuitBreaker` of the module
/// UpstreamPacing.
final class ApplePacing: AppStoreServerPacing {
  /// The requests to which a rate limit applies: those of one app to one endpoint of a server.
  private struct Limit: Hashable {
    let server: AppStoreServer
    let bundleId: String
    let endpoint: AppStoreServerEndpoint
  }

  private let redis: RedisClient
  private let rates: [AppStoreServerEndpoint: Double]
  private let metrics: RecoveryMetrics
  private let limits = Mutex<[Limit: SharedRateLimit]>([:])
  private let breakers: [AppStoreServer: SharedCircuitBreaker]

  /// - Parameter rates: the requests per second and app in production, for endpoints whose published rate is to be replaced.
  init(redis: RedisClient, rates: [AppStoreServerEndpoint: Double], metrics: RecoveryMetrics) {
    self.redis = redis
    self.rates = rates
    self.metrics = metrics
    breakers = Dictionary(
      uniqueKeysWithValues: AppStoreServer.allCases.map { server in
        (
          server,
          SharedCircuitBreaker(
            redis: redis, key: Keys.own("recovery", "breaker:\(server.rawValue)", shardOf: server.rawValue), rule: .init())
        )
      })
  }

  /// The rates of the setting `recovery.rates`, by endpoint. Throws for an unknown endpoint.
  static func rates(_ settings: RecoverySettings) throws(ConfigurationError) -> [AppStoreServerEndpoint: Double] {
    var rates: [AppStoreServerEndpoint: Double] = [:]
    for (name, rate) in settings.rates {
      guard let endpoint = AppStoreServerEndpoint(rawValue: name) else {
        let names = AppStoreServerEndpoint.allCases.map(\.rawValue).joined(separator: ", ")
        throw ConfigurationError("recovery.rates.\(name)", "is not an endpoint; the endpoints are \(names)")
      }
      rates[endpoint] = rate
    }
    return rates
  }

  func permit(
    _ endpoint: AppStoreServerEndpoint, bundleId: String, server: AppStoreServer, deadline: ContinuousClock.Instant
  ) async throws(AppStoreServerAPIError) -> AppStoreServerPermit {
    let permit = try await admit(server)
    let limit = limit(Limit(server: server, bundleId: bundleId, endpoint: endpoint))
    let remaining = max(.zero, deadline - .now)
    // At most half of the remaining time is spent waiting, so that the other half is left for the request.
    switch await limit.reserve(maxWait: remaining / 2) {
    case .granted(_, let wait):
      if wait > .zero {
        metrics.countWait("rate")
        do { try await Task.sleep(for: wait) } catch {
          await record(permit, .abandoned, server)
          throw AppStoreServerAPIError(.server, message: "cancelled", server: server)
        }
      }
    case .refused(let wait):
      await record(permit, .abandoned, server)
      metrics.countWait("rate")
      throw AppStoreServerAPIError(
        .rate, message: "our own limit delays the request: Apple's limit for this endpoint is used up, or Apple asked us to wait",
        retryAt: WallClock.now() + wait.milliseconds, server: server)
    }
    return AppStoreServerPermit { result in
      switch result {
      case .answered: await self.record(permit, .succeeded, server)
      case .failed: await self.record(permit, .failed, server)
      case .abandoned: await self.record(permit, .abandoned, server)
      case .limited(let moment):
        // Apple answered, so the server works.
        await self.record(permit, .succeeded, server)
        await limit.hold(for: .milliseconds(max(0, moment - WallClock.now())))
      }
    }
  }

  private func admit(_ server: AppStoreServer) async throws(AppStoreServerAPIError) -> SharedCircuitBreaker.Permit? {
    guard let breaker = breakers[server] else { return nil }
    switch await breaker.admit() {
    case .call(let permit): return permit
    case .wait:
      metrics.countWait("breaker")
      throw AppStoreServerAPIError(.server, message: "the App Store mostly fails, so it is not called for now", server: server)
    }
  }

  private func record(_ permit: SharedCircuitBreaker.Permit?, _ result: CircuitBreaker.Result, _ server: AppStoreServer) async {
    guard let permit, let breaker = breakers[server] else { return }
    await breaker.record(permit, result)
  }

  private func limit(_ limit: Limit) -> SharedRateLimit {
    limits.withLock { limits in
      if let known = limits[limit] { return known }
      let budget = AppStoreRateBudget(limit.endpoint, server: limit.server, rate: rates[limit.endpoint])
      guard
        let rule = RateRule(
          perSecond: min(budget.perSecond, RateRule.maxRate), burst: min(budget.burst, RateRule.maxBurst))
      else { preconditionFailure("the rate budget of an endpoint is not a valid rate rule") }
      let new = SharedRateLimit(
        redis: redis,
        key: Keys.own(
          "recovery", "rate:\(limit.server.rawValue):\(limit.bundleId):\(limit.endpoint.rawValue)", shardOf: limit.bundleId),
        rule: rule, onOutage: .limitsLocally)
      limits[limit] = new
      return new
    }
  }
}
