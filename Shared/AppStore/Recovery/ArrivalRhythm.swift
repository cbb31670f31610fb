/// The usual number of an app's notifications at a time of day, computed from the counts of the last seven days. A silence is unusual if
/// many notifications would be usual in it; ``OutageRule`` then decides what is recovered.
///
/// Pure: counts and times are passed in. The usual number is the median of the same time of day on the earlier days, so that a past outage
/// or a single busy day does not distort it.
public struct ArrivalRhythm: Sendable, Hashable {
  /// The length of a bucket, the time span of one count, milliseconds.
  public let bucket: Int64
  /// The numbers of notifications. The key is a bucket's index: its start in milliseconds since 1970, divided by ``bucket``.
  public let counts: [Int64: Int64]
  /// The period with which the rhythm repeats, milliseconds.
  public static let day = TimeWindow.millisecondsPerDay
  /// The number of earlier days from which the median is computed.
  public static let days: Int64 = 7
  /// The fewest days with notifications for a result. With fewer days, the median says little.
  static let minDays = 3

  /// Throws unless a day is a multiple of the bucket.
  public init(bucket: Int64, counts: [Int64: Int64]) throws(RequestRefusal) {
    guard bucket > 0, Self.day % bucket == 0 else { throw RequestRefusal(field: "bucket", "must be a divisor of a day in milliseconds") }
    self.bucket = bucket
    self.counts = counts
  }

  /// The usual number of notifications in a time window; nil without enough data. Times are milliseconds since 1970.
  public func usual(_ window: TimeWindow) -> Double? {
    var found: [Double] = []
    var daysWithAny = 0
    let known = Set(counts.filter { $0.value > 0 }.keys.map { $0 * bucket / Self.day })
    for day in 1...Self.days {
      let start = window.start - day * Self.day
      let end = window.end - day * Self.day
      // A day without any notification counts as a day before the app's first one. A silent hour of another day counts as zero.
      guard known.contains(start / Self.day) || known.contains((end - 1) / Self.day) else { continue }
      daysWithAny += 1
      found.append(count(from: start, to: end))
    }
    guard daysWithAny >= Self.minDays else { return nil }
    found.sort()
    let middle = found.count / 2
    return found.count % 2 == 1 ? found[middle] : (found[middle - 1] + found[middle]) / 2
  }

  /// True if a silence counts as an outage: at least `expected` notifications would be usual in it, and it lasted at least `minSilence`
  /// milliseconds.
  public func isOutage(silence: TimeWindow, expected: Double, minSilence: Int64) -> Bool {
    guard silence.end - silence.start >= minSilence, let usual = usual(silence) else { return false }
    return usual >= expected
  }

  /// The sum of the counts in a time span. A bucket that is partly in the span counts in proportion.
  private func count(from start: Int64, to end: Int64) -> Double {
    guard start > 0 else { return 0 }
    var sum = 0.0
    var index = start / bucket
    while index * bucket < end {
      let overlap = min(end, (index + 1) * bucket) - max(start, index * bucket)
      sum += Double(counts[index] ?? 0) * Double(overlap) / Double(bucket)
      index += 1
    }
    return sum
  }
}
