import Logging
import ServiceLifecycle
import Synchronization

/// The first service to stop: it turns readiness off, then waits until load balancers have noticed, before the listeners stop.
struct DrainGate: Service {
  let health: Health
  let delay: Duration
  let logger: Logger

  func run() async throws {
    try? await gracefulShutdown()
    health.setDraining()
    logger.info("draining", metadata: ["delay": "\(delay)"])
    try? await Task.sleep(for: delay)
    health.setEnding()
  }
}

/// Counts started listeners, and calls a closure when all have started.
final class Listening: Sendable {
  private let left: Mutex<Int>
  private let all: @Sendable () -> Void

  init(expected: Int, all: @escaping @Sendable () -> Void) {
    left = Mutex(expected)
    self.all = all
  }

  func one() {
    let none = left.withLock { left in
      left -= 1
      return left == 0
    }
    if none { all() }
  }
}

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
