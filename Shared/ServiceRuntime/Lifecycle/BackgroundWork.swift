public import ServiceLifecycle

/// Runs background work until the service drains, then stops it and waits for it.
public struct BackgroundWork: Service {
  private let work: @Sendable () async -> Void
  private let stop: @Sendable () -> Void

  /// Without `stop`, the work's task is cancelled.
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
    // If the work ends by itself, the service must not end with it.
    try? await gracefulShutdown()
  }
}
