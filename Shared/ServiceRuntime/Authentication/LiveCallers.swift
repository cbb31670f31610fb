import Synchronization

/// The current callers. A reload of the configuration replaces all of them.
final class LiveCallers: Sendable {
  private let directory: Mutex<CallerDirectory>

  init(_ directory: CallerDirectory) { self.directory = Mutex(directory) }

  var current: CallerDirectory { directory.withLock { $0 } }

  func replace(by next: CallerDirectory) { directory.withLock { $0 = next } }
}

extension CallerDirectory {
  /// The callers of a configuration. Throws if there are none and the service is not configured to serve everyone.
  init(_ configuration: DeploymentConfiguration, _ variables: ServiceVariables) throws(ConfigurationError) {
    self.init(clients: configuration.clients, serviceToken: variables.serviceToken, open: variables.open)
    if isEmpty {
      throw ConfigurationError(
        "clients", "is empty: nobody could call; ATTRIBUTION_OPEN=1 serves without credentials, on loopback only")
    }
  }
}
