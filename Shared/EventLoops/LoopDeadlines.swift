import NIOCore
import NIOPosix

/// A wait with a deadline, which ``LoopDeadlines`` checks.
public protocol Expiring: AnyObject, Sendable {
  /// The earliest time at which the wait must be checked; nil if its deadline may change, so that it must be checked again and again.
  var dueAt: ContinuousClock.Instant? { get }
  /// Ends the wait if its deadline has passed. Returns true if the wait has ended.
  func endIfDue(at now: ContinuousClock.Instant) -> Bool
}

/// Watches the deadlines of many waits with one timer for each event loop. A timer for each wait would cost more than the wait itself,
/// because thousands of waits begin each second and nearly all end before their deadline.
public final class LoopDeadlines {
  /// The least time between two checks. A deadline is noticed at most this much too late, unless the loop is busy.
  public static let minInterval: Duration = .milliseconds(5)
  /// The greatest time between two checks. A check removes the waits that have ended, whose memory is only then freed.
  static let maxInterval: Duration = .milliseconds(50)

  // Safe: each thread has its own value, which never leaves the thread.
  nonisolated(unsafe) private static let ofThread = ThreadSpecificVariable<LoopDeadlines>()

  private let loop: any EventLoop
  private var waits: [any Expiring] = []
  /// The next check, and the time for which it is scheduled.
  private var next: (check: Scheduled<Void>, at: ContinuousClock.Instant)?

  private init(_ loop: any EventLoop) { self.loop = loop }

  /// Watches a wait, on the event loop of this thread, or on any event loop if this thread has no ``EventLoopExecutor``.
  public static func add(_ wait: any Expiring) {
    if let loop = EventLoopExecutor.ofThisThread?.loop {
      current(loop).add(wait)
    } else {
      let loop = MultiThreadedEventLoopGroup.singleton.any()
      loop.execute { current(loop).add(wait) }
    }
  }

  private static func current(_ loop: any EventLoop) -> LoopDeadlines {
    loop.preconditionInEventLoop()
    if let deadlines = ofThread.currentValue { return deadlines }
    let deadlines = LoopDeadlines(loop)
    ofThread.currentValue = deadlines
    return deadlines
  }

  private func add(_ wait: any Expiring) {
    waits.append(wait)
    let dueAt = wait.dueAt
    if let next, let dueAt, dueAt >= next.at { return }
    let now = ContinuousClock.now
    schedule(at: Self.checkTime(dueAt, now: now), now: now)
  }

  /// The time of the next check of a wait.
  private static func checkTime(_ dueAt: ContinuousClock.Instant?, now: ContinuousClock.Instant) -> ContinuousClock.Instant {
    guard let dueAt else { return now + minInterval }
    return min(max(dueAt, now + minInterval), now + maxInterval)
  }

  /// Schedules a check, unless one is scheduled for an earlier time.
  private func schedule(at time: ContinuousClock.Instant, now: ContinuousClock.Instant) {
    if let next {
      guard time < next.at else { return }
      next.check.cancel()
    }
    let check = loop.assumeIsolated().scheduleTask(in: .nanoseconds(Int64((time - now) / .nanoseconds(1)))) { self.check() }
    next = (check, time)
  }

  private func check() {
    next = nil
    let now = ContinuousClock.now
    // The end of a wait may begin another one, which `add` appends to `waits` while `filter` runs.
    let checked = waits
    waits = []
    waits = checked.filter { !$0.endIfDue(at: now) } + waits
    if let time = waits.lazy.map({ Self.checkTime($0.dueAt, now: now) }).min() { schedule(at: time, now: now) }
  }
}
