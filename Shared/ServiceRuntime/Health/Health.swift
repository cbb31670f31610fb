import Synchronization

/// Whether the service is started, ready or draining. AdministrativePaths answers with it.
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

  var isDraining: Bool { draining.load(ordering: .relaxed) }
  var isStarted: Bool { started.load(ordering: .relaxed) }
  func setStarted() { started.store(true, ordering: .relaxed) }
  /// True after the drain delay: further calls are refused.
  var isEnding: Bool { ending.load(ordering: .relaxed) }
  func setEnding() { ending.store(true, ordering: .relaxed) }
  func setDraining() { draining.store(true, ordering: .relaxed) }

  func readiness() async -> HTTPResponse {
    var results: [(String, String?)] = []
    for check in checks { results.append((check.name, await check.check())) }
    return status(isStarted && !isDraining && results.allSatisfy { $0.1 == nil }, results)
  }
}
