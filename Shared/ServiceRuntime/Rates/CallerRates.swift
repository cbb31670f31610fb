/// The rate limits of callers, by method. Callers come from the configuration and methods from the contract, so their number is limited.
final class CallerRates: Sendable {
  struct Key: Hashable, Sendable {
    let caller: String
    let method: String
  }

  private let table = RateTable<Key>(maxKeys: 65_536)

  /// Counts one call. Returns nil if it is allowed, otherwise how long to wait.
  func take(_ key: Key, _ rate: RequestRate) -> Duration? { table.take(key, rate, now: RateClock.now()) }
}
