import Logging
import ServiceRuntime
import Synchronization

/// The current keyring. A changed configuration replaces it as a whole; if a key cannot be loaded, the earlier keyring stays.
final class LiveKeyring: Sendable {
  private let keyring: Mutex<Keyring>
  private let metrics: MetricsRegistry
  private let logger: Logger
  private let now: @Sendable () -> Int64
  /// The labels of the keys whose age the last scrape showed, so that ages of removed keys are removed.
  private let shownAges = Mutex<Set<[String]>>([])

  /// - Parameter now: milliseconds since 1970.
  init(
    _ configuration: DeploymentConfiguration, metrics: MetricsRegistry, logger: Logger, now: @escaping @Sendable () -> Int64
  ) throws(ConfigurationError) {
    self.metrics = metrics
    self.logger = logger
    self.now = now
    let first = try Keyring(configuration, metrics: metrics)
    keyring = Mutex(first)
    show(first, after: nil)
    metrics.collect { [weak self] in self?.showAges() }
  }

  /// The keyring to use. It is read for each request, so that requests that begin after ``replace(by:)`` use only the new keys.
  var current: Keyring { keyring.withLock { $0 } }

  /// Loads the keys of a new configuration. If one of them cannot be used, it throws and nothing changes.
  func replace(by configuration: DeploymentConfiguration) throws(ConfigurationError) {
    let next = try Keyring(configuration, metrics: metrics)
    let previous = keyring.withLock { keyring in
      let previous = keyring
      keyring = next
      return previous
    }
    show(next, after: previous)
  }

  /// Updates the metric of the keys' states, and warns of ad networks without an active key.
  private func show(_ keyring: Keyring, after previous: Keyring?) {
    for key in previous?.states ?? [] { metrics.set(SigningMetrics.keyInfo, 0, key.labels) }
    for key in keyring.states { metrics.set(SigningMetrics.keyInfo, 1, key.labels) }
    for (id, keys) in keyring.adNetworks.sorted(by: { $0.key < $1.key }) where !keys.contains(where: { $0.state == .active }) {
      logger.warning("an ad network has no active key, so nothing can be signed for it", metadata: ["adNetworkId": "\(id)"])
    }
  }

  /// Updates the metric of the keys' ages before each scrape. The ages of keys that were removed or have another state now are removed.
  private func showAges() {
    let time = now()
    shownAges.withLock { shownAges in
      var shown: Set<[String]> = []
      for key in current.states {
        guard let created = key.created else { continue }
        metrics.set(SigningMetrics.keyAge, Double(time - created) / 1000, key.labels)
        shown.insert(key.labels)
      }
      for labels in shownAges.subtracting(shown) { metrics.remove(SigningMetrics.keyAge, labels) }
      shownAges = shown
    }
  }
}
