public import ServiceLifecycle

/// A worker of a service: runs the work until the service drains, then stops the work and waits for its end.
public struct BackgroundWork: Service {
  private let work: @Sendable () async -> Void
  private let stop: @Sendable () -> Void
  /// True if the work is stopped by cancelling its task.
  private let cancels: Bool

  /// - Parameter stop: makes the work end; nil if the work ends when its task is cancelled.
  public init(stop: (@Sendable () -> Void)? = nil, work: @escaping @Sendable () async -> Void) {
    self.work = work
    self.stop = stop ?? {}
    cancels = stop == nil
  }

  public func run() async throws {
    if cancels {
      await withTaskGroup(of: Void.self) { group in
        group.addTask { await work() }
        group.addTask { try? await gracefulShutdown() }
        await group.next()
        group.cancelAll()
      }
    } else {
      await withGracefulShutdownHandler {
        await work()
      } onGracefulShutdown: {
        stop()
      }
    }
    // The end of a service ends its whole group, so this waits for the drain even if the work has ended by itself.
    try? await gracefulShutdown()
  }
}
