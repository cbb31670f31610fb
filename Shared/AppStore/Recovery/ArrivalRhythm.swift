/// The usual number of notifications of an app, computed from counts. It tells whether a silence is unusual.
///
/// Pure: counts and times are passed in. The usual number at a time of day is the median of the days before, so that a past outage or a
/// single busy day does not distort it.
public struct ArrivalRhythm: Sendable, Hashable {
  /// The time span of one count, milliseconds.
  public let bucket: Int64
  /// The number of notifications by bucket (time divided by the bucket's length).
  public let counts: [Int64: Int64]
  /// The period of the rhythm: a day, milliseconds.
  public static let day = TimeWindow.millisecondsPerDay
  /// The number of past days that are used.
  public static let days: Int64 = 7
  /// The least number of days with notifications for a result.
  static let minDays = 3

  /// Throws if the bucket does not divide a day.
  public init(bucket: Int64, counts: [Int64: Int64]) throws(RequestRefusal) {
    guard bucket > 0, Self.day % bucket == 0 else { throw RequestRefusal(field: "bucket", "must divide a day") }
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
      // A day without any count is before the app's start. A silent hour of a known day counts as silent.
      guard known.contains(start / Self.day) || known.contains((end - 1) / Self.day) else { continue }
      daysWithAny += 1
      found.append(count(from: start, to: end))
    }
    guard daysWithAny >= Self.minDays else { return nil }
    found.sort()
    let middle = found.count / 2
    return found.count % 2 == 1 ? found[middle] : (found[middle - 1] + found[middle]) / 2
  }

  /// True if a silence is an outage: at least `expected` notifications would be usual in it, and it lasted at least `minSilence`
  /// milliseconds.
  public func isOutage(silence: TimeWindow, expected: Double, minSilence: Int64) -> Bool {
    guard silence.end - silence.start >= minSilence, let usual = usual(silence) else { return false }
    return usual >= expected
  }

  /// The counts of whole buckets, and proportional shares of the buckets at the edges.
  private func count(from start: Int64, to end: Int64) -> Double {
    guard start > 0 else { return 0 }
    var sum = 0.0
    var place = start / bucket
    while place * bucket < end {
      let inside = min(end, (place + 1) * bucket) - max(start, place * bucket)
      sum += Double(counts[place] ?? 0) * Double(inside) / Double(bucket)
      place += 1
    }
    return sum
  }
}
