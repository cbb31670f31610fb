public import RedisClient
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// A rate limit that all instances of a service share: a bucket in Redis, by Redis' clock (``RateBucket`` has the rules).
///
/// A key with a hash tag identifies a limit. It names the upstream's endpoint, and the app if the upstream counts by app. All instances
/// that use a key must have the same rule.
public final class SharedRateLimit: Sendable {
  /// The result of a reservation.
  public enum Grant: Sendable, Hashable {
    /// The caller gets that many units, and may use them after the wait.
    case granted(units: Int, wait: Duration)
    /// Nothing is reserved. The caller may try again after the wait.
    case refused(wait: Duration)
  }

  /// The timeout of Redis commands. Without a reply, ``StoreOutagePolicy`` decides.
  public static let storeTimeout: Duration = .seconds(1)
  /// The wait after a refusal because Redis is unavailable.
  static let outageWait: Duration = .milliseconds(500)

  public let rule: RateRule
  private let redis: RedisClient
  private let key: String
  private let outagePolicy: StoreOutagePolicy
  /// The bucket of this instance alone, which is used while Redis is unavailable. It also records holds.
  private let localBucket = Mutex(RateBucket())

  /// - Parameter key: the limit's key in Redis, with a hash tag, such as `{attr:017}:service:rate:endpoint`.
  public init(redis: RedisClient, key: String, rule: RateRule, onOutage outagePolicy: StoreOutagePolicy) {
    self.redis = redis
    self.key = key
    self.rule = rule
    self.outagePolicy = outagePolicy
  }

  /// Reserves exactly that many units, or none if they do not become available within `maxWait`.
  public func reserve(_ units: Int = 1, maxWait: Duration = .zero) async -> Grant {
    await reserve(units...units, maxWait: maxWait)
  }

  /// Reserves as many units as become available within `maxWait`, at most the upper bound of the range. Refuses if these are fewer than the
  /// lower bound. Unused units cannot be returned.
  public func reserve(_ units: ClosedRange<Int>, maxWait: Duration = .zero) async -> Grant {
    switch await runScript(units, maxWait: maxWait, hold: .zero)?.grant {
    case .granted(let units, let wait)?: .granted(units: units, wait: .microseconds(wait))
    case .refused(let wait)?: .refused(wait: .microseconds(wait))
    case nil: reserveWithoutStore(units, maxWait)
    }
  }

  /// Grants no units to any instance for a time, for example because the upstream has sent `Retry-After`. An earlier hold that ends later
  /// remains in effect.
  public func hold(for time: Duration) async {
    let now = Self.monotonic
    localBucket.withLock { $0.hold(until: now + time.microseconds) }
    _ = await runScript(0...0, maxWait: .zero, hold: time)
  }

  /// Runs `reserve.lua`. Returns the grant, and Redis' time in microseconds; nil if Redis does not reply.
  func runScript(
    _ units: ClosedRange<Int>, maxWait: Duration, hold: Duration
  ) async -> (grant: RateBucket.Grant, now: Int64)? {
    let maxUnits = min(units.upperBound, RateRule.maxBurst)
    let reply = try? await Scripts.reserve.run(
      on: redis, keys: [key],
      arguments: [
        .integer(Int64(min(max(units.lowerBound, 1), max(maxUnits, 1)))), .integer(Int64(maxUnits)), .integer(rule.interval),
        .integer(Int64(rule.burst)), .integer(max(0, maxWait.microseconds)), .integer(max(0, hold.microseconds)),
      ], timeout: Self.storeTimeout)
    guard let values = reply?.array, values.count == 3, let granted = values[0].integer, let wait = values[1].integer,
      let now = values[2].integer
    else { return nil }
    return (granted > 0 ? .granted(units: Int(granted), wait: wait) : .refused(wait: wait), now)
  }

  private func reserveWithoutStore(_ units: ClosedRange<Int>, _ maxWait: Duration) -> Grant {
    guard outagePolicy == .limitsLocally else { return .refused(wait: Self.outageWait) }
    let now = Self.monotonic
    let grant = localBucket.withLock { $0.reserve(units, rule: rule, maxWait: maxWait.microseconds, now: now) }
    switch grant {
    case .granted(let units, let wait): return .granted(units: units, wait: .microseconds(wait))
    case .refused(let wait): return .refused(wait: .microseconds(wait))
    }
  }

  /// Microseconds of a monotonic clock.
  private static var monotonic: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}
