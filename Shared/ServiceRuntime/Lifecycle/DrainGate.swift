import Logging
import ServiceLifecycle

/// The first service to stop. On SIGTERM, a process drains in five steps, each of which begins when the one before has ended:
///
/// 1. This service turns readiness off, and waits until load balancers have noticed. Meanwhile all calls are served.
/// 2. It refuses further RPCs, and ends the waits of calls that wait for something to happen: they answer with the current state.
/// 3. The listeners stop: the public one, then the internal one. Requests in progress are answered.
/// 4. Workers stop: the work in progress is settled, and shards and leases are released.
/// 5. The last spans are exported.
///
/// `ServiceMain.serve` sets the order, and the limit for all steps together: the delay and 20 s. After the limit everything is cancelled:
/// connections are closed, and workers end at once. What they held is released when its lease ends.
struct DrainGate: Service {
  let health: Health
  let delay: Duration
  let waiting: WaitingCalls
  let logger: Logger

  func run() async throws {
    try? await gracefulShutdown()
    health.setDraining()
    logger.info("draining", metadata: ["delay": "\(delay)"])
    try? await Task.sleep(for: delay)
    health.setEnding()
    waiting.end()
  }
}
