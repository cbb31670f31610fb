import Logging
import ServiceLifecycle
import UnixSignals

/// Reloads the configuration file on SIGHUP. If it is invalid, that is logged and counted, and the previous configuration stays in use.
struct ReloadSignal: Service {
  private static let metric = "attribution_configuration_reloads_total"

  let path: String
  let metrics: MetricsRegistry
  let logger: Logger
  /// Called before each reload. It reloads the listeners' certificates, even if the configuration file is invalid.
  let before: @Sendable () -> Void
  let apply: @Sendable (DeploymentConfiguration) throws(ConfigurationError) -> Void

  init(
    path: String, metrics: MetricsRegistry, logger: Logger, before: @escaping @Sendable () -> Void,
    apply: @escaping @Sendable (DeploymentConfiguration) throws(ConfigurationError) -> Void
  ) {
    self.path = path
    self.metrics = metrics
    self.logger = logger
    self.before = before
    self.apply = apply
    metrics.counter(Self.metric, help: "Times that the configuration was read again after SIGHUP.", labels: ["outcome"])
  }

  func run() async throws {
    // An untrapped SIGHUP would end the process.
    let signals = await UnixSignalsSequence(trapping: .sighup)
    for await _ in signals.cancelOnGracefulShutdown() { reload() }
    try? await gracefulShutdown()
  }

  private func reload() {
    before()
    do throws(ConfigurationError) {
      let configuration = try DeploymentConfiguration.load(path: path)
      try apply(configuration)
      metrics.add(Self.metric, 1, ["applied"])
      logger.notice("the configuration was reloaded")
      for key in configuration.unknownKeys {
        logger.warning("the configuration has an unknown key", metadata: ["key": "\(key)"])
      }
    } catch {
      metrics.add(Self.metric, 1, ["refused"])
      logger.error("the changed configuration was refused; the previous one stays in use", metadata: ["reason": "\(error)"])
    }
  }
}
