import AppStore
import Logging
import ServiceRuntime
import Synchronization

/// The current plans of all apps (``RetentionPlan``). A changed configuration replaces all of them, or none.
final class LiveRetention: Sendable {
  private struct State {
    /// The plans by bundle id.
    var plans: [String: RetentionPlan]
    var settings: RetentionSettings
    /// Verifies requests. After a change of the configuration, its successor keeps the certificates that it has cached. Nil until an app
    /// has a plan.
    var verifier: SignedDataVerifier?
  }

  /// The plan, the settings and the verifier for one request.
  struct ActivePlan: Sendable {
    let plan: RetentionPlan
    let settings: RetentionSettings
    let verifier: SignedDataVerifier
  }

  private let state: Mutex<State>
  private let logger: Logger

  init(_ configuration: DeploymentConfiguration, logger: Logger) throws(ConfigurationError) {
    self.logger = logger
    let plans = try Self.plans(configuration)
    state = Mutex(
      State(
        plans: plans, settings: configuration.retention,
        verifier: plans.isEmpty ? nil : try configuration.signedDataVerifier(logger).ofSignedData(of: plans.values.map(\.app))))
  }

  /// Throws the error of an invalid plan, which would prevent ingest from starting.
  static func check(_ configuration: DeploymentConfiguration) throws(ConfigurationError) { _ = try plans(configuration) }

  /// Adopts a changed configuration. Throws and changes nothing if the configuration is invalid.
  func replace(by configuration: DeploymentConfiguration) throws(ConfigurationError) {
    let plans = try Self.plans(configuration)
    let known = state.withLock { $0.verifier }
    let apps = plans.values.map(\.app)
    let verifier: SignedDataVerifier?
    if let known {
      verifier = known.ofSignedData(of: apps)
    } else {
      verifier = plans.isEmpty ? nil : try configuration.signedDataVerifier(logger).ofSignedData(of: apps)
    }
    state.withLock { $0 = State(plans: plans, settings: configuration.retention, verifier: verifier) }
  }

  /// True if the app's requests are answered here.
  func serves(_ bundleId: String) -> Bool {
    state.withLock { $0.verifier != nil && $0.plans[bundleId]?.app.bundleId.isExactly(bundleId) == true }
  }

  /// The plan of an app; nil if its requests are not answered here.
  func activePlan(of bundleId: String) -> ActivePlan? {
    state.withLock { state in
      guard let plan = state.plans[bundleId], plan.app.bundleId.isExactly(bundleId), let verifier = state.verifier else { return nil }
      return ActivePlan(plan: plan, settings: state.settings, verifier: verifier)
    }
  }

  var settings: RetentionSettings { state.withLock { $0.settings } }

  /// The apps and environments for which the approved messages are needed.
  var audiences: [RetentionAudience] {
    state.withLock { state in
      state.plans.values.flatMap { plan in
        ["Production", "Sandbox"].filter { plan.app.environments.contains($0) }.map {
          RetentionAudience(bundleId: plan.app.bundleId, environment: $0)
        }
      }
    }
  }

  private static func plans(_ configuration: DeploymentConfiguration) throws(ConfigurationError) -> [String: RetentionPlan] {
    var plans: [String: RetentionPlan] = [:]
    for app in configuration.apps {
      guard let settings = app.retention else { continue }
      plans[app.bundleId] = try RetentionPlan(
        KnownApp(bundleId: app.bundleId, appAppleId: app.appAppleId, environments: Set(app.environments)), settings)
    }
    return plans
  }
}

/// An app in one environment: Apple approves messages separately for each.
struct RetentionAudience: Sendable, Hashable {
  let bundleId: String
  let environment: String
}
