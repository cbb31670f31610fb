import Synchronization

/// The callers that are known now. A reading of the configuration replaces them as a whole.
final class LiveCallers: Sendable {
  private let directory: Mutex<CallerDirectory>

  init(_ directory: CallerDirectory) { self.directory = Mutex(directory) }

  var current: CallerDirectory { directory.withLock { $0 } }

  func replace(by next: CallerDirectory) { directory.withLock { $0 = next } }
}

extension CallerDirectory {
  /// The callers of a deployment. Throws when there are none and the service is not told to serve anybody.
  init(_ configuration: DeploymentConfiguration, _ variables: ServiceVariables) throws(ConfigurationError) {
    self.init(clients: configuration.clients, serviceToken: variables.serviceToken, open: variables.open)
    if isEmpty {
      throw ConfigurationError(
        "clients", "is empty: nobody could call; ATTRIBUTION_OPEN=1 serves without credentials, on loopback only")
    }
  }
}
