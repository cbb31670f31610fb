import Logging
import ServiceLifecycle

/// Begins the drain. On SIGTERM or SIGINT, a process drains in five steps, each of which begins when the one before has ended:
///
/// 1. This service turns readiness off, and waits until load balancers have noticed. All calls are still served.
/// 2. It refuses further RPCs. Calls that wait for something to happen stop waiting, and answer with the current state.
/// 3. The listeners stop: the public one, then the internal one. Requests in progress are answered.
/// 4. Workers stop: they settle the messages in progress, and release their shards and leases.
/// 5. The last spans are exported.
///
/// `ServiceMain.serve` sets the order, and the time limit for all steps together: the delay and 20 s. After it everything is cancelled:
/// connections are closed, and workers end at once. Other instances take over their shards and messages when the leases have expired.
struct DrainGate: Service {
  let health: Health
  /// The time in which load balancers notice that this instance is not ready.
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
