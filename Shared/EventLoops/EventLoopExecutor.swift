public import NIOCore
import NIOPosix

/// A task executor that runs on an event loop, so that tasks that wait for connections of that loop never change threads.
///
/// The steps of its tasks must be short: a step that computes for long blocks all connections of the loop.
public final class EventLoopExecutor: TaskExecutor {
  private static let ofThread = ThreadSpecificVariable<EventLoopExecutor>()

  /// The event loop.
  public let loop: any EventLoop

  public init(loop: any EventLoop) { self.loop = loop }

  /// One executor for each event loop of the process.
  public static func all() -> [EventLoopExecutor] {
    MultiThreadedEventLoopGroup.singleton.makeIterator().map { EventLoopExecutor(loop: $0) }
  }

  /// The executor of the event loop on which this is called.
  public static func current(_ loop: any EventLoop) -> EventLoopExecutor {
    loop.preconditionInEventLoop()
    if let executor = ofThread.currentValue { return executor }
    let executor = EventLoopExecutor(loop: loop)
    ofThread.currentValue = executor
    return executor
  }

  /// The executor of the event loop of this thread; nil on other threads, and if ``current(_:)`` was never called on it.
  public static var ofThisThread: EventLoopExecutor? { ofThread.currentValue }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
