import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#endif

/// The progress of long work. It does not read a clock: times are passed in.
struct Progress: Sendable {
  /// What is counted, in the plural, such as `events`.
  let unit: String
  /// The total; nil if it is not known.
  var total: Double?
  /// A second count and its unit, from the start of this run. It is for work whose progress is measured in something else, such as time.
  var counted: (number: Double, unit: String)?
  private(set) var done = 0.0
  private let startTime: Double
  private let already: Double

  /// - Parameters:
  ///   - already: the amount that an earlier run did, which does not count for this run's rate.
  ///   - now: the current time in seconds; each call must use the same clock.
  init(unit: String, total: Double?, already: Double = 0, now: Double) {
    self.unit = unit
    self.total = total
    self.already = already
    done = already
    startTime = now
  }

  /// Sets the amount that is done; a smaller amount is ignored.
  mutating func advance(to done: Double) { self.done = max(self.done, done) }

  /// The average rate per second of this run; nil while the run is too short.
  func rate(now: Double) -> Double? {
    let seconds = now - startTime
    return seconds > 0.2 && done > already ? (done - already) / seconds : nil
  }

  /// The expected time to the end; nil while it cannot be estimated.
  func secondsLeft(now: Double) -> Double? {
    guard let total, let rate = rate(now: now), rate > 0 else { return nil }
    return max(0, total - done) / rate
  }

  /// `[#####.....]  52 %  5200/10000 events  1300/s  3.7s left`, at most `width` wide.
  func text(width: Int, now: Double, showsCount: Bool = true) -> String {
    var parts: [String] = []
    if let total, total > 0 { parts.append("\(Int((min(1, done / total) * 100).rounded(.down))) %") }
    if showsCount { parts.append(total.map { "\(Int(done))/\(Int($0)) \(unit)" } ?? "\(Int(done)) \(unit)") }
    if showsCount, let rate = rate(now: now) { parts.append(rate < 10 ? "\((rate * 10).rounded() / 10)/s" : "\(Int(rate))/s") }
    if let counted {
      parts.append("\(Int(counted.number)) \(counted.unit)")
      if now - startTime > 0.2 { parts.append("\(Int(counted.number / (now - startTime)))/s") }
    }
    if let left = secondsLeft(now: now), done < total ?? 0 { parts.append("\(TerminalText.age(left)) left") }
    let tail = parts.joined(separator: "  ")
    guard let total, total > 0 else { return String(tail.prefix(width)) }
    let barWidth = min(30, width - tail.count - 4)
    guard barWidth >= 5 else { return String(tail.prefix(width)) }
    let full = Int(Double(barWidth) * min(1, done / total))
    return "[" + String(repeating: "#", count: full) + String(repeating: ".", count: barWidth - full) + "]  " + tail
  }
}

/// Shows progress in one line of standard error if that is a terminal, and nothing otherwise.
struct ProgressLine {
  /// The minimum number of seconds between two updates of the line.
  private static let interval = 0.1

  var progress: Progress
  private let showsCount: Bool
  private let isShown: Bool
  private var lastShown = 0.0

  init(unit: String, total: Double?, already: Double = 0, showsCount: Bool = true) {
    progress = Progress(unit: unit, total: total, already: already, now: Self.now())
    self.showsCount = showsCount
    isShown = isatty(STDERR_FILENO) == 1
  }

  mutating func advance(to done: Double) {
    progress.advance(to: done)
    let now = Self.now()
    guard isShown, now - lastShown >= Self.interval else { return }
    lastShown = now
    let text = progress.text(width: Terminal.width(STDERR_FILENO) - 1, now: now, showsCount: showsCount)
    StandardError.write("\r\u{1B}[K" + text)
  }

  /// Erases the line; more progress may follow.
  func end() { if isShown, lastShown > 0 { StandardError.write("\r\u{1B}[K") } }

  private static func now() -> Double { Double(WallClock.now()) / 1000 }
}
