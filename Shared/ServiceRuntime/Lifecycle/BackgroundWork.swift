public import ServiceLifecycle

/// Runs background work until the service drains, then stops it and waits for it.
public struct BackgroundWork: Service {
  private let work: @Sendable () async -> Void
  private let stop: @Sendable () -> Void

  /// If `stop` is nil, draining cancels the work's task.
  public init(stop: (@Sendable () -> Void)? = nil, work: @escaping @Sendable () async -> Void) {
    self.work = work
    self.stop = stop ?? {}
    cancels = stop == nil
  }

  private let cancels: Bool

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
    // A service that returns shuts down its group, so wait even if the work has ended.
    try? await gracefulShutdown()
  }
}
