import NIOCore
import NIOPosix

/// A wait with a deadline.
public protocol Expiring: AnyObject, Sendable {
  /// Ends the wait if its deadline has passed. Returns true if the wait has ended.
  func endIfDue(at now: ContinuousClock.Instant) -> Bool
}

/// Watches the deadlines of an event loop. One timer checks all of them every ``interval``. A timer for each wait would cost more than the
/// wait itself, since thousands begin each second and nearly all end before their deadline.
public final class LoopDeadlines {
  /// The interval between checks. A deadline is noticed at most this late, unless the loop is busy.
  public static let interval: Duration = .milliseconds(5)

  // Safe: each thread sees its own value, and that value never leaves the thread.
  nonisolated(unsafe) private static let ofThread = ThreadSpecificVariable<LoopDeadlines>()

  private let loop: any EventLoop
  private var waits: [any Expiring] = []
  private var isScheduled = false

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
    scheduleCheck()
  }

  private func scheduleCheck() {
    guard !isScheduled, !waits.isEmpty else { return }
    isScheduled = true
    loop.assumeIsolated().scheduleTask(in: .nanoseconds(Int64(Self.interval / .nanoseconds(1)))) { self.check() }
  }

  private func check() {
    isScheduled = false
    let now = ContinuousClock.now
    // A wait that ends may begin another one, which is added to `waits` meanwhile.
    let checked = waits
    waits = []
    waits = checked.filter { !$0.endIfDue(at: now) } + waits
    scheduleCheck()
  }
}
