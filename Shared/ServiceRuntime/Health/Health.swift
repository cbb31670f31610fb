import Synchronization

/// The state of the service: whether it has started, is ready, and is draining. `AdministrativePaths.swift` answers health checks and
/// `/metrics` with it.
final class Health: Sendable {
  let service: String
  let rpcServices: [String]
  private let checks: [ReadinessCheck]
  let metrics: MetricsRegistry
  let metricsAccess: MetricsAccess
  private let started = Atomic(false)
  private let draining = Atomic(false)
  private let ending = Atomic(false)

  init(service: String, rpcServices: [String], checks: [ReadinessCheck], metrics: MetricsRegistry, metricsAccess: MetricsAccess) {
    self.service = service
    self.rpcServices = rpcServices
    self.checks = checks
    self.metrics = metrics
    self.metricsAccess = metricsAccess
  }

  /// True when all listeners have started.
  var isStarted: Bool { started.load(ordering: .relaxed) }
  func setStarted() { started.store(true, ordering: .relaxed) }
  /// True from the signal to end on: the service is not ready, but serves all calls.
  var isDraining: Bool { draining.load(ordering: .relaxed) }
  func setDraining() { draining.store(true, ordering: .relaxed) }
  /// True after the drain delay: further RPCs are refused.
  var isEnding: Bool { ending.load(ordering: .relaxed) }
  func setEnding() { ending.store(true, ordering: .relaxed) }

  /// The response to `/readyz`.
  func readiness() async -> HTTPResponse {
    var results: [(String, String?)] = []
    for check in checks { results.append((check.name, await check.check())) }
    return status(isStarted && !isDraining && results.allSatisfy { $0.1 == nil }, results)
  }
}
