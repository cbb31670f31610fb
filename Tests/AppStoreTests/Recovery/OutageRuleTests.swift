import Testing

@testable import AppStore

@Suite("Outages and Apple's own retries")
struct OutageRuleTests {
  static let hour: Int64 = 3_600_000
  static let start: Int64 = 1_790_000_000_000

  private func rule(_ server: AppStoreServer = .production, scale: Double = 1) throws -> OutageRule {
    try OutageRule(schedule: NotificationRetrySchedule(server, scale: scale), maxWait: Self.hour, margin: 600_000)
  }

  private func outage(hours: Double) throws -> TimeWindow {
    try TimeWindow(start: Self.start, end: Self.start + Int64(hours * Double(Self.hour)))
  }

  @Test("retries are 1, 13, 37, 85 and 157 hours after the first attempt, and there are none in the sandbox")
  func offsets() {
    #expect(NotificationRetrySchedule(.production).offsets == [1, 13, 37, 85, 157].map { $0 * Self.hour })
    #expect(NotificationRetrySchedule(.production, scale: 3600).offsets == [1000, 13_000, 37_000, 85_000, 157_000])
    #expect(NotificationRetrySchedule(.sandbox).offsets.isEmpty)
  }

  @Test("the latest next attempt for any notification of a window", arguments: [0.5, 0.999, 1, 1.001, 5, 13, 14, 40, 156.9, 158])
  func triedAgain(hours: Double) throws {
    let schedule = NotificationRetrySchedule(.production)
    let window = try outage(hours: hours)
    // Every minute of the window is queried separately.
    var latest: Int64? = 0
    for first in stride(from: window.start, to: window.end, by: 60_000) {
      guard let known = latest else { break }
      latest = schedule.attempt(after: window.end, first: first).map { max(known, $0) }
    }
    let found = schedule.allRetriedAt(window, end: window.end)
    #expect((found == nil) == (latest == nil))
    if let found, let latest { #expect(found >= latest && found - latest <= 60_000) }
  }

  @Test("a short outage waits for Apple's first retry, and then requests only failed notifications")
  func short() throws {
    let window = try outage(hours: 0.5)
    let checkTime = window.end - 1 + Self.hour + 600_000
    #expect(try rule().decide(window, evidence: .heartbeat, now: window.end) == .wait(until: checkTime))
    #expect(try rule().decide(window, evidence: .heartbeat, now: checkTime - 1) == .wait(until: checkTime))
    #expect(try rule().decide(window, evidence: .heartbeat, now: checkTime) == .recover(window, onlyFailures: true))
    // During a silence, another server may have answered 200.
    #expect(try rule().decide(window, evidence: .silence, now: checkTime) == .recover(window, onlyFailures: false))
  }

  @Test("a long outage is recovered immediately, and so is any in the sandbox")
  func long() throws {
    let long = try outage(hours: 1.5)
    #expect(try rule().decide(long, evidence: .heartbeat, now: long.end) == .recover(long, onlyFailures: false))
    let beyond = try outage(hours: 200)
    #expect(try rule().decide(beyond, evidence: .heartbeat, now: beyond.end) == .recover(beyond, onlyFailures: false))
    let short = try outage(hours: 0.1)
    #expect(try rule(.sandbox).decide(short, evidence: .heartbeat, now: short.end) == .recover(short, onlyFailures: false))
  }

  @Test("an outage of exactly one hour is recovered immediately, and a shorter one waits")
  func edge() throws {
    let exactly = try outage(hours: 1)
    // The second attempt for its first notification is at the very end and fails too. The third is twelve hours later.
    #expect(try rule().decide(exactly, evidence: .heartbeat, now: exactly.end) == .recover(exactly, onlyFailures: false))
    let less = try TimeWindow(start: Self.start + 1, end: exactly.end)
    #expect(try rule().decide(less, evidence: .heartbeat, now: less.end) == .wait(until: less.end - 1 + Self.hour + 600_000))
  }

  @Test("a continuing outage is recovered in parts, none shorter than the minimum")
  func pieces() throws {
    let rule = try rule()
    let due = Self.start + Self.hour + 600_000
    #expect(rule.piece(from: Self.start, now: due - 1) == nil)
    #expect(try rule.piece(from: Self.start, now: due) == TimeWindow(start: Self.start, end: Self.start + Self.hour))
    #expect(try rule.piece(from: Self.start, now: due + 5000) == TimeWindow(start: Self.start, end: Self.start + Self.hour + 5000))
    #expect(rule.piece(from: Self.start, now: Self.start - 5) == nil)
  }

  @Test("negative times are refused by name")
  func refused() {
    #expect(throws: RequestRefusal(field: "maxWait", "must not be negative")) {
      try OutageRule(schedule: NotificationRetrySchedule(.production), maxWait: -1, margin: 0)
    }
  }

  @Test("less urgent notifications are held for longer, and none longer than the limit")
  func urgency() {
    #expect(RecoveryUrgency(notificationType: "DID_RENEW") < RecoveryUrgency(notificationType: "EXPIRED"))
    #expect(RecoveryUrgency(notificationType: "EXPIRED") < RecoveryUrgency(notificationType: "REFUND"))
    #expect(RecoveryUrgency(notificationType: "REFUND") < RecoveryUrgency(notificationType: nil))
    let holds = RecoveryUrgency.allCases.map { $0.hold(limit: 300_000) }
    #expect(holds == [0, 240_000, 270_000, 300_000])
    #expect(RecoveryUrgency.allCases.allSatisfy { $0.hold(limit: 0) == 0 && $0.hold(limit: -1) == 0 })
  }

  @Test("every documented result has advice, except success")
  func advice() {
    let results = [
      "TIMED_OUT", "TLS_ISSUE", "SSL_ISSUE", "CIRCULAR_REDIRECT", "NO_RESPONSE", "SOCKET_ISSUE", "UNSUPPORTED_CHARSET",
      "INVALID_RESPONSE", "PREMATURE_CLOSE", "UNSUCCESSFUL_HTTP_RESPONSE_CODE", "OTHER",
    ]
    for result in results { #expect(SendAttemptDiagnosis.advice(for: result)?.contains("version does not know") == false, "\(result)") }
    #expect(SendAttemptDiagnosis.advice(for: "SUCCESS") == nil)
    #expect(SendAttemptDiagnosis.advice(for: "NEXT_YEARS")?.contains("does not know") == true)
    let diagnosis = SendAttemptDiagnosis.diagnose(["SUCCESS": 3, "TIMED_OUT": 5, "OTHER": 3, "NO_RESPONSE": 0])
    #expect(diagnosis.map(\.result) == ["TIMED_OUT", "OTHER", "SUCCESS"])
  }
}

@Suite("Detection of silences")
struct ArrivalRhythmTests {
  static let bucket: Int64 = 300_000
  /// A midnight.
  static let today: Int64 = 1_789_948_800_000

  /// The same number of notifications in every bucket from 8 to 20 o'clock on the days before today.
  private func rhythm(days: Int64, each: Int64, besides: [Int64] = []) throws -> ArrivalRhythm {
    var counts: [Int64: Int64] = [:]
    for day in 1...max(1, days) where days > 0 && !besides.contains(day) {
      for minute in stride(from: Int64(8 * 60), to: 20 * 60, by: 5) {
        counts[(Self.today - day * ArrivalRhythm.day + minute * 60_000) / Self.bucket] = each
      }
    }
    return try ArrivalRhythm(bucket: Self.bucket, counts: counts)
  }

  private func silence(_ fromHour: Double, _ toHour: Double) throws -> TimeWindow {
    try TimeWindow(start: Self.today + Int64(fromHour * 3_600_000), end: Self.today + Int64(toHour * 3_600_000))
  }

  @Test("a silent hour of an app with many notifications is an outage, and a silent night is not")
  func talkative() throws {
    let rhythm = try rhythm(days: 7, each: 10)
    #expect(rhythm.usual(try silence(10, 11)) == 120)
    #expect(rhythm.isOutage(silence: try silence(10, 11), expected: 30, minSilence: 900_000))
    #expect(!rhythm.isOutage(silence: try silence(1, 7), expected: 30, minSilence: 900_000))
    // The silence is too short, for any usual rate.
    #expect(!rhythm.isOutage(silence: try silence(10, 10.2), expected: 10, minSilence: 900_000))
  }

  @Test("buckets at the edges of a silence count by their share")
  func shares() throws {
    #expect(try rhythm(days: 7, each: 10).usual(try silence(10.0 + 1.0 / 24, 10.0 + 1.0 / 12)) == 5)
  }

  @Test("an app with few notifications is never silent, and neither is one with too little history")
  func quiet() throws {
    #expect(!(try rhythm(days: 7, each: 1)).isOutage(silence: try silence(10, 11), expected: 30, minSilence: 900_000))
    #expect(try rhythm(days: 2, each: 1000).usual(try silence(10, 11)) == nil)
    #expect(try rhythm(days: 3, each: 1000).usual(try silence(10, 11)) == 12_000)
    #expect(try ArrivalRhythm(bucket: Self.bucket, counts: [:]).usual(try silence(10, 11)) == nil)
  }

  @Test("one day with many notifications and one outage do not change the usual rate")
  func median() throws {
    var counts = try rhythm(days: 7, each: 10, besides: [3]).counts
    for minute in stride(from: Int64(8 * 60), to: 20 * 60, by: 5) {
      counts[(Self.today - 5 * ArrivalRhythm.day + minute * 60_000) / Self.bucket] = 10_000
    }
    // Day 3 has counts, but none at this hour.
    counts[(Self.today - 3 * ArrivalRhythm.day + 22 * 3_600_000) / Self.bucket] = 1
    let rhythm = try ArrivalRhythm(bucket: Self.bucket, counts: counts)
    #expect(rhythm.usual(try silence(10, 11)) == 120)
  }

  @Test("a bucket that does not divide a day is refused")
  func refused() {
    #expect(throws: RequestRefusal.self) { try ArrivalRhythm(bucket: 7, counts: [:]) }
  }
}
