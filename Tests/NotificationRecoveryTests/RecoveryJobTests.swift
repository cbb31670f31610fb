import AppStore
import Testing

@testable import notification_recovery

@Suite("The time range of a recovery")
struct RecoveryJobTests {
  private static let now: Int64 = 1_795_000_000_000
  private static let hour: Int64 = 3_600_000

  private func job(_ start: Int64, _ end: Int64) throws -> RecoveryJob {
    try RecoveryJob(
      id: "a", bundleId: "com.example.app", server: .production, window: TimeWindow(start: start, end: end), origin: .request,
      startedAt: Self.now)
  }

  @Test("the requested range ends ten minutes from now at the latest")
  func future() throws {
    let asked = try #require(try job(Self.now - Self.hour, Self.now + 1_000_000 * Self.hour).slices?.window)
    #expect(asked == (try TimeWindow(start: Self.now - Self.hour - 600_000, end: Self.now + 600_000)))
    let past = try #require(try job(Self.now - 3 * Self.hour, Self.now - 2 * Self.hour).slices?.window)
    #expect(past == (try TimeWindow(start: Self.now - 3 * Self.hour - 600_000, end: Self.now - 2 * Self.hour + 600_000)))
  }

  @Test("Apple's attempts are counted with their times, which are stored; a job of an older version has none")
  func attempts() throws {
    var job = try job(Self.now - Self.hour, Self.now)
    typealias Attempt = NotificationHistoryPage.SendAttempt
    job.count([
      .init(signedPayload: "a", sendAttempts: [Attempt(result: "TIMED_OUT", date: 30), Attempt(result: "SUCCESS", date: 40)]),
      .init(signedPayload: "b", sendAttempts: [Attempt(result: "TIMED_OUT", date: 20), Attempt(result: "OTHER", date: nil)]),
      .init(signedPayload: "c", sendAttempts: []),
    ])
    job.count([.init(signedPayload: "d", sendAttempts: [Attempt(result: "TIMED_OUT", date: 25)])])
    #expect(job.undelivered == 2)
    #expect(job.attemptResults == ["TIMED_OUT": 3, "SUCCESS": 1, "OTHER": 1])
    #expect(job.attemptTimes == ["TIMED_OUT": 20...30, "SUCCESS": 40...40])
    #expect(RecoveryJob(json: job.json) == job)
    let untouched = try self.job(Self.now - Self.hour, Self.now)
    #expect(!String(decoding: untouched.json, as: UTF8.self).contains("attemptTimes"))
    #expect(RecoveryJob(json: untouched.json) == untouched)
  }

  @Test("a caller's window is worked by urgency once it is divided, unless it has a filter")
  func urgency() throws {
    func isUrgentFirst(_ origin: RecoveryOrigin, type: String? = nil, transactionId: String? = nil) throws -> Bool {
      var job = try RecoveryJob(
        id: "a", bundleId: "com.example.app", server: .production, window: TimeWindow(start: Self.now - 24 * Self.hour, end: Self.now),
        notificationType: type, transactionId: transactionId, origin: origin, startedAt: Self.now)
      let opened = job.slices?.openNext(readers: 16)
      let first = try #require(opened)
      #expect(job.isUrgentFirst == (origin == .outage))
      for page in 1...10 { _ = job.slices?.received(first.number, items: 20, hasMore: true, paginationToken: "\(page)") }
      return job.isUrgentFirst
    }
    let byOrigin = (try isUrgentFirst(.request), try isUrgentFirst(.outage), try isUrgentFirst(.schedule))
    #expect(byOrigin == (true, true, false))
    let filtered = (try isUrgentFirst(.request, type: "DID_RENEW"), try isUrgentFirst(.request, transactionId: "1"))
    #expect(filtered == (false, false))
  }

  @Test("a window that begins in the future is refused by its start; a clock may be ten minutes ahead")
  func start() throws {
    #expect(throws: RequestRefusal(field: "startDate", "lies in the future")) {
      try job(Self.now + 600_001, Self.now + Self.hour)
    }
    #expect(try job(Self.now + 600_000, Self.now + Self.hour).slices != nil)
  }
}
