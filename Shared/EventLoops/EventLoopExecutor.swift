public import NIOCore
import NIOPosix

/// Runs the steps of tasks on an event loop: what waits for connections of that loop goes on without a change of thread.
///
/// For tasks whose steps are short; a step that computes for long holds up everything else of the loop.
public final class EventLoopExecutor: TaskExecutor {
  private static let ofThread = ThreadSpecificVariable<EventLoopExecutor>()

  /// Where the steps are run.
  public let loop: any EventLoop

  public init(loop: any EventLoop) { self.loop = loop }

  /// One for each event loop of the process.
  public static func all() -> [EventLoopExecutor] {
    MultiThreadedEventLoopGroup.singleton.makeIterator().map { EventLoopExecutor(loop: $0) }
  }

  /// That of the event loop that this is called on.
  public static func current(_ loop: any EventLoop) -> EventLoopExecutor {
    loop.preconditionInEventLoop()
    if let executor = ofThread.currentValue { return executor }
    let executor = EventLoopExecutor(loop: loop)
    ofThread.currentValue = executor
    return executor
  }

  /// That of the event loop whose thread this is; nil elsewhere, and where none was asked for.
  public static var ofThisThread: EventLoopExecutor? { ofThread.currentValue }

  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
