import Logging
import ServiceRuntime
import Synchronization

/// The current keyring. A rotation replaces it as a whole, or not at all.
final class LiveKeyring: Sendable {
  private let keyring: Mutex<Keyring>
  private let metrics: MetricsRegistry
  private let logger: Logger
  private let now: @Sendable () -> Int64
  /// The labels of the keys whose age the last scrape showed.
  private let aged = Mutex<Set<[String]>>([])

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
    for key in last?.states ?? [] { metrics.set(SigningMetrics.keyInfo, 0, key.labels) }
    for key in keyring.states { metrics.set(SigningMetrics.keyInfo, 1, key.labels) }
    for (id, keys) in keyring.adNetworks.sorted(by: { $0.key < $1.key }) where !keys.contains(where: { $0.state == .active }) {
      logger.warning("an ad network has no active key: nothing is signed for it", metadata: ["adNetworkId": "\(id)"])
    }
  }

  /// Shows the ages of the keys whose creation is known, and removes those of keys that are gone or in another state.
  private func showAges() {
    let time = now()
    aged.withLock { aged in
      var shown: Set<[String]> = []
      for key in current.states {
        guard let created = key.created else { continue }
        metrics.set(SigningMetrics.keyAge, Double(time - created) / 1000, key.labels)
        shown.insert(key.labels)
      }
      for labels in aged.subtracting(shown) { metrics.remove(SigningMetrics.keyAge, labels) }
      aged = shown
    }
  }
}
