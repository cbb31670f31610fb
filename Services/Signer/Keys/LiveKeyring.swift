import Logging
import ServiceRuntime
import Synchronization

/// The current keyring. A rotation replaces it as a whole, or not at all.
final class LiveKeyring: Sendable {
  private let keyring: Mutex<Keyring>
  private let metrics: MetricsRegistry
  private let logger: Logger

  init(_ configuration: DeploymentConfiguration, metrics: MetricsRegistry, logger: Logger) throws(ConfigurationError) {
    self.metrics = metrics
    self.logger = logger
    let first = try Keyring(configuration, metrics: metrics)
    keyring = Mutex(first)
    show(first, after: nil)
  }

  /// Read for each signature, so that no earlier key signs after ``replace(by:)`` has returned.
  var current: Keyring { keyring.withLock { $0 } }

  /// Loads the keys of a new configuration. If one of them cannot be used, it throws and nothing changes.
  func replace(by configuration: DeploymentConfiguration) throws(ConfigurationError) {
    let next = try Keyring(configuration, metrics: metrics)
    let last = keyring.withLock { keyring in
      let last = keyring
      keyring = next
      return last
    }
    show(next, after: last)
  }

  private func show(_ keyring: Keyring, after last: Keyring?) {
    for key in last?.states ?? [] { metrics.set(SigningMetrics.keyInfo, 0, [key.owner, key.keyId, key.state]) }
    for key in keyring.states { metrics.set(SigningMetrics.keyInfo, 1, [key.owner, key.keyId, key.state]) }
    for (id, keys) in keyring.adNetworks.sorted(by: { $0.key < $1.key }) where !keys.contains(where: { $0.state == .active }) {
      logger.warning("an ad network has no active key: nothing is signed for it", metadata: ["adNetworkId": "\(id)"])
    }
  }
}
