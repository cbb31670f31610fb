/// What each caller has left of its rate, method by method. Both are of the configuration and the contract: there is a bounded number.
final class CallerRates: Sendable {
  struct Key: Hashable, Sendable {
    let caller: String
    let method: String
  }

  private let table = RateTable<Key>(most: 65_536)

  /// Takes one call; nil when it is let through, or how long to wait.
  func take(_ key: Key, _ rate: RequestRate) -> Duration? { table.take(key, rate, now: RateClock.now()) }
}
