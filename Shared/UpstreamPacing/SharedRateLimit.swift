public import RedisClient
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// A rate that all instances of a service keep together: a bucket in Redis, by Redis' own clock.
///
/// One key is one limit: the caller names it by the upstream endpoint, and the app where the upstream counts by app, with a hash tag so
/// that it lies in one slot of a Redis Cluster. All that share a key must state the same rule.
public final class SharedRateLimit: Sendable {
  /// What became of a reservation.
  public enum Grant: Sendable, Hashable {
    /// So many units are the caller's, to be used after the wait.
    case granted(units: Int, wait: Duration)
    /// Nothing was reserved; worth asking again after the wait.
    case refused(wait: Duration)
  }

  /// How long Redis may take; past it ``StoreOutagePolicy`` decides.
  public static let storeTimeout: Duration = .seconds(1)
  /// When to ask again while the store is away and the limit refuses.
  public static let absenceWait: Duration = .milliseconds(500)

  public let rule: RateRule
  private let redis: RedisClient
  private let key: String
  private let absence: StoreOutagePolicy
  /// What this instance goes by while the store is away; a hold is kept here too.
  private let own = Mutex(RateBucket())

  /// - Parameter key: with a hash tag, such as `{attr:017}:service:rate:endpoint`.
  public init(redis: RedisClient, key: String, rule: RateRule, whenStoreIsAway absence: StoreOutagePolicy) {
    self.redis = redis
    self.key = key
    self.rule = rule
    self.absence = absence
  }

  /// Reserves exactly so many units, or none when they cannot be had within the longest wait.
  public func reserve(_ units: Int = 1, longestWait: Duration = .zero) async -> Grant {
    await reserve(units...units, longestWait: longestWait)
  }

  /// Reserves as many units of the range as can be had within the longest wait. What is not used is not given back.
  public func reserve(_ units: ClosedRange<Int>, longestWait: Duration = .zero) async -> Grant {
    switch await ask(units, longestWait: longestWait, hold: .zero)?.grant {
    case .granted(let units, let wait)?: .granted(units: units, wait: .microseconds(wait))
    case .refused(let wait)?: .refused(wait: .microseconds(wait))
    case nil: withoutStore(units, longestWait)
    }
  }

  /// Grants nothing to anyone for a time, as an upstream asks by `Retry-After`; a longer hold stays.
  public func hold(for time: Duration) async {
    let now = Self.monotonic
    own.withLock { $0.hold(until: now + time.microseconds) }
    _ = await ask(0...0, longestWait: .zero, hold: time)
  }

  /// What the script answered, with Redis' time in microseconds; nil when there is no answer.
  func ask(
    _ units: ClosedRange<Int>, longestWait: Duration, hold: Duration
  ) async -> (grant: RateBucket.Grant, now: Int64)? {
    let most = min(units.upperBound, RateRule.largestBurst)
    let reply = try? await Scripts.reserve.run(
      on: redis, keys: [key],
      arguments: [
        .integer(Int64(min(max(units.lowerBound, 1), max(most, 1)))), .integer(Int64(most)), .integer(rule.interval),
        .integer(Int64(rule.burst)), .integer(max(0, longestWait.microseconds)), .integer(max(0, hold.microseconds)),
      ], timeout: Self.storeTimeout)
    guard let values = reply?.array, values.count == 3, let granted = values[0].integer, let wait = values[1].integer,
      let now = values[2].integer
    else { return nil }
    return (granted > 0 ? .granted(units: Int(granted), wait: wait) : .refused(wait: wait), now)
  }

  private func withoutStore(_ units: ClosedRange<Int>, _ longestWait: Duration) -> Grant {
    guard absence == .goesAlone else { return .refused(wait: Self.absenceWait) }
    let now = Self.monotonic
    let grant = own.withLock { $0.reserve(units, rule: rule, longestWait: longestWait.microseconds, now: now) }
    switch grant {
    case .granted(let units, let wait): return .granted(units: units, wait: .microseconds(wait))
    case .refused(let wait): return .refused(wait: .microseconds(wait))
    }
  }

  private static var monotonic: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
  }
}
