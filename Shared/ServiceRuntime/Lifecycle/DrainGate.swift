import Logging
import ServiceLifecycle
import Synchronization

/// Ends first: readiness turns red, and only after a delay, in which balancers look away, listening stops.
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

/// Counts listeners that came up; says so when all have.
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

/// Runs a piece of work until the service drains, then asks it to stop and waits for it.
public struct BackgroundWork: Service {
  private let work: @Sendable () async -> Void
  private let stop: @Sendable () -> Void

  /// Without `stop` the work's task is cancelled.
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
    // Work that ends by itself must not end the service with it before everything drains.
    try? await gracefulShutdown()
  }
}
