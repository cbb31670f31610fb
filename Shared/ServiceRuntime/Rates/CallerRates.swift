/// The rate limits of callers by method. Their number is bounded, because callers are configured and methods are in the contract.
final class CallerRates: Sendable {
  struct Key: Hashable, Sendable {
    let caller: String
    let method: String
  }

  private let table = RateTable<Key>(maxKeys: 65_536)

  /// Counts one call. Returns nil if it is allowed, otherwise how long to wait.
  func take(_ key: Key, _ rate: RequestRate) -> Duration? { table.take(key, rate, now: RateClock.now()) }
}
