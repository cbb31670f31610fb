import NIOCore
import NIOPosix

/// Runs the steps of tasks on an event loop.
final class EventLoopExecutor: TaskExecutor {
  private static let ofThread = ThreadSpecificVariable<EventLoopExecutor>()

  private let loop: any EventLoop

  init(loop: any EventLoop) { self.loop = loop }

  /// That of the event loop that this is called on.
  static func current(_ loop: any EventLoop) -> EventLoopExecutor {
    loop.preconditionInEventLoop()
    if let executor = ofThread.currentValue { return executor }
    let executor = EventLoopExecutor(loop: loop)
    ofThread.currentValue = executor
    return executor
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    loop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
  }
}
