import NIOCore
import NIOPosix

/// Something that waits and has a deadline.
public protocol Dated: AnyObject, Sendable {
  /// Ends it where its time has come. Returns whether it has ended, now or before.
  func endIfDue(at now: ContinuousClock.Instant) -> Bool
}

/// Watches the deadlines of an event loop. One timer checks all of them every few milliseconds: a timer for each would cost more than what it
/// guards, since there are thousands a second and nearly all end before their deadline.
public final class LoopDeadlines {
  /// How late a deadline may be noticed.
  public static let interval: Duration = .milliseconds(5)

  // Each thread sees a value of its own, and that value never leaves the thread.
  nonisolated(unsafe) private static let ofThread = ThreadSpecificVariable<LoopDeadlines>()

  private let loop: any EventLoop
  private var dated: [any Dated] = []
  private var isLooking = false

  private init(_ loop: any EventLoop) { self.loop = loop }

  /// Ends it when its time comes, on the event loop of this thread, or on any where this is none's.
  public static func add(_ dated: any Dated) {
    if let loop = EventLoopExecutor.ofThisThread?.loop {
      current(loop).add(dated)
    } else {
      let loop = MultiThreadedEventLoopGroup.singleton.any()
      loop.execute { current(loop).add(dated) }
    }
  }

  private static func current(_ loop: any EventLoop) -> LoopDeadlines {
    loop.preconditionInEventLoop()
    if let deadlines = ofThread.currentValue { return deadlines }
    let deadlines = LoopDeadlines(loop)
    ofThread.currentValue = deadlines
    return deadlines
  }

  private func add(_ dated: any Dated) {
    self.dated.append(dated)
    lookLater()
  }

  private func lookLater() {
    guard !isLooking, !dated.isEmpty else { return }
    isLooking = true
    loop.assumeIsolated().scheduleTask(in: .nanoseconds(Int64(Self.interval / .nanoseconds(1)))) { self.look() }
  }

  private func look() {
    isLooking = false
    let now = ContinuousClock.now
    // What ends may begin something else that is added meanwhile.
    let looked = dated
    dated = []
    dated = looked.filter { !$0.endIfDue(at: now) } + dated
    lookLater()
  }
}
