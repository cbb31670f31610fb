/// The periods in which deliveries are counted.
public enum CountPeriod: String, Sendable, Hashable, CaseIterable {
  case minute, hour

  public var milliseconds: Int64 {
    switch self {
    case .minute: 60_000
    case .hour: 3_600_000
    }
  }

  /// The number of periods that are stored: a day of minutes, a week of hours.
  public var storedPeriods: Int {
    switch self {
    case .minute: 24 * 60
    case .hour: 7 * 24
    }
  }

  /// The expiry of a period's hash, seconds after its first count: all stored periods, the period itself, and ten minutes for differing
  /// clocks.
  var expirySeconds: Int64 { (Int64(storedPeriods) + 1) * milliseconds / 1000 + 600 }

  /// The number of the period that contains a time.
  ///
  /// - Parameter time: milliseconds since 1970.
  func number(at time: Int64) -> Int64 { time / milliseconds }
}
