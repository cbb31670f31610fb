import NIOCore
import NIOPosix

/// Calls a function once when a time is over, unless it is cancelled before.
public struct LoopTimer: Sendable {
  private let scheduled: Scheduled<Void>

  /// Runs on the event loop of this thread, or on any where this is none's. `body` must be short.
  public init(after time: Duration, _ body: @escaping @Sendable () -> Void) {
    let loop = EventLoopExecutor.ofThisThread?.loop ?? MultiThreadedEventLoopGroup.singleton.any()
    scheduled = loop.scheduleTask(in: .nanoseconds(max(0, Int64(time / .nanoseconds(1)))), body)
  }

  public func cancel() { scheduled.cancel() }
}
