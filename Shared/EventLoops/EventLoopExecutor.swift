public import NIOCore
import NIOPosix

/// A task executor that runs its tasks on an event loop. A task that waits for connections of this loop then never changes threads.
///
/// ```swift
/// await withTaskExecutorPreference(EventLoopExecutor.all()[0]) { await work() }
/// ```
///
/// While a task computes, the loop serves none of its connections. So its tasks must not compute for long between two suspensions;
/// ``LoopSlices`` helps with this.
public final class EventLoopExecutor: TaskExecutor {
  private static let ofThread = ThreadSpecificVariable<EventLoopExecutor>()

  /// The event loop on which the tasks run.
  public let loop: any EventLoop

  public init(loop: any EventLoop) { self.loop = loop }

  /// Creates an executor for each event loop of the process. Each call creates new ones.
  public static func all() -> [EventLoopExecutor] {
    MultiThreadedEventLoopGroup.singleton.makeIterator().map { EventLoopExecutor(loop: $0) }
  }

  /// The executor of this thread's event loop, which must be `loop`. All calls on a thread return the same executor.
  public static func current(_ loop: any EventLoop) -> EventLoopExecutor {
    loop.preconditionInEventLoop()
    if let executor = ofThread.currentValue { return executor }
    let executor = EventLoopExecutor(loop: loop)
    ofThread.currentValue = executor
    return executor
  }

  /// The executor that ``current(_:)`` has created on this thread; nil if it was never called there.
  public static var ofThisThread: EventLoopExecutor? { ofThread.currentValue }

  /// Called by the runtime to run the next part of a task.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
