/// The lengths of time that deliveries are counted in.
public enum CountPeriod: String, Sendable, Hashable, CaseIterable {
  case minute, hour

  public var milliseconds: Int64 {
    switch self {
    case .minute: 60_000
    case .hour: 3_600_000
    }
  }

  /// How many are kept.
  public var kept: Int {
    switch self {
    case .minute: 24 * 60
    case .hour: 7 * 24
    }
  }

  /// How long a hash lives after its first count: all that are kept, its own length, and clocks that differ.
  var lifeSeconds: Int64 { (Int64(kept) + 1) * milliseconds / 1000 + 600 }

  /// The number of the period that a moment lies in.
  ///
  /// - Parameter time: milliseconds since 1970.
  func number(at time: Int64) -> Int64 { time / milliseconds }
}
