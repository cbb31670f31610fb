import ServiceLifecycle

/// Polls the certificate files of the listeners and reloads changed ones.
struct CertificateWatch: Service {
  /// The polling interval. A change is loaded when the next poll finds the file unchanged, so that it is not read while it is being
  /// written.
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
