/// How many notifications of an app usually arrive, learned from counts; says when a silence is none that the app usually keeps.
///
/// Pure: counts and times are passed in. What is usual at a time of day is the median of the days before, so that a past outage or one
/// loud day teaches nothing wrong.
public struct ArrivalRhythm: Sendable, Hashable {
  /// One count is about this long, milliseconds.
  public let bucket: Int64
  /// Bucket (time divided by its length) → notifications.
  public let counts: [Int64: Int64]
  /// One round of the rhythm: a day.
  public static let day: Int64 = 86_400_000
  /// Rounds looked back.
  public static let days: Int64 = 7
  /// Days with anything in them that must be known before anything is said.
  static let leastDays = 3

  /// Refuses a bucket that does not divide a day.
  public init(bucket: Int64, counts: [Int64: Int64]) throws(RequestRefusal) {
    guard bucket > 0, Self.day % bucket == 0 else { throw RequestRefusal(field: "bucket", "must divide a day") }
    self.bucket = bucket
    self.counts = counts
  }

  /// How many notifications a stretch of time usually has; nil when too little is known. Times in milliseconds since 1970.
  public func usual(_ window: TimeWindow) -> Double? {
    var found: [Double] = []
    var daysWithAny = 0
    let known = Set(counts.filter { $0.value > 0 }.keys.map { $0 * bucket / Self.day })
    for day in 1...Self.days {
      let start = window.start - day * Self.day
      let end = window.end - day * Self.day
      // A day of which nothing at all is known lies before the app's beginning; one silent hour of a known day counts as silent.
      guard known.contains(start / Self.day) || known.contains((end - 1) / Self.day) else { continue }
      daysWithAny += 1
      found.append(count(from: start, to: end))
    }
    guard daysWithAny >= Self.leastDays else { return nil }
    found.sort()
    let middle = found.count / 2
    return found.count % 2 == 1 ? found[middle] : (found[middle - 1] + found[middle]) / 2
  }

  /// Whether so long a silence is an outage: `expected` notifications would usually have come in it, and it lasted `least`
  /// milliseconds.
  public func isOutage(silence: TimeWindow, expected: Double, least: Int64) -> Bool {
    guard silence.end - silence.start >= least, let usual = usual(silence) else { return false }
    return usual >= expected
  }

  /// Counts of whole buckets, and of those on the edges the share that lies in.
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
