import NIOCore
import NIOPosix

/// A wait with a deadline.
public protocol Expiring: AnyObject, Sendable {
  /// The wait is not due before this time. Nil if its deadline may change.
  var dueAt: ContinuousClock.Instant? { get }
  /// Ends the wait if its deadline has passed. Returns true if the wait has ended.
  func endIfDue(at now: ContinuousClock.Instant) -> Bool
}

/// Watches the deadlines of an event loop. One timer checks all of them. A timer for each wait would cost more than the wait itself, since
/// thousands begin each second and nearly all end before their deadline.
public final class LoopDeadlines {
  /// The time by which a deadline is noticed late at most, unless the loop is busy.
  public static let interval: Duration = .milliseconds(5)
  /// The time between checks while no wait is due sooner. Until a check, waits that have ended take memory.
  static let idleInterval: Duration = .milliseconds(50)

  // Safe: each thread sees its own value, and that value never leaves the thread.
  nonisolated(unsafe) private static let ofThread = ThreadSpecificVariable<LoopDeadlines>()

  private let loop: any EventLoop
  private var waits: [any Expiring] = []
  /// The next check, and the time for which it is scheduled.
  private var next: (check: Scheduled<Void>, at: ContinuousClock.Instant)?

  private init(_ loop: any EventLoop) { self.loop = loop }

  /// Watches a wait, on the event loop of this thread, or on any event loop if this thread has none.
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

  /// When a wait is checked next.
  private static func checkTime(_ dueAt: ContinuousClock.Instant?, now: ContinuousClock.Instant) -> ContinuousClock.Instant {
    guard let dueAt else { return now + interval }
    return min(max(dueAt, now + interval), now + idleInterval)
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
    // A wait that ends may begin another one, which is added to `waits` meanwhile.
    let checked = waits
    waits = []
    waits = checked.filter { !$0.endIfDue(at: now) } + waits
    if let time = waits.lazy.map({ Self.checkTime($0.dueAt, now: now) }).min() { schedule(at: time, now: now) }
  }
}
