import ServiceLifecycle

/// Polls the certificate files of the listeners, and reloads those that have changed.
struct CertificateWatch: Service {
  /// The polling interval. A changed file is reloaded when the next poll finds no further change, so that a file is not read while it is
  /// being written.
  private static let interval: Duration = .seconds(1)

  let listeners: [LiveTLS]

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        for listener in listeners { listener.reloadIfChanged() }
        try? await Task.sleep(for: Self.interval)
      }
    }
    try? await gracefulShutdown()
  }
}
