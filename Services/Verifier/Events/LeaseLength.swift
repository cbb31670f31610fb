/// The lengths of leases of pulled events. Redis keeps the leases of each length separately, and each pull examines all lengths that are in
/// use, so there are only a few: a requested length is rounded up to the next of them.
enum LeaseLength {
  private static let seconds: [Int32] = [
    1, 2, 3, 5, 7, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300, 450, 600, 900, 1200, 1800, 2700, 3600,
  ]

  /// The shortest of the lengths that is at least as long as the requested one, seconds; nil above the longest.
  static func roundedUp(_ requested: Int32) -> Duration? { seconds.first { $0 >= requested }.map { .seconds(Int64($0)) } }
}
