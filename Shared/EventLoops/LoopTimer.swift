import NIOCore
import NIOPosix

/// Calls a function once after a time, unless it is cancelled before.
public struct LoopTimer: Sendable {
  private let scheduled: Scheduled<Void>

  /// The timer runs on the event loop of this thread, or on any loop if this thread has none. `body` must be short.
  public init(after time: Duration, _ body: @escaping @Sendable () -> Void) {
    let loop = EventLoopExecutor.ofThisThread?.loop ?? MultiThreadedEventLoopGroup.singleton.any()
    scheduled = loop.scheduleTask(in: .nanoseconds(max(0, Int64(time / .nanoseconds(1)))), body)
  }

  public func cancel() { scheduled.cancel() }
}
