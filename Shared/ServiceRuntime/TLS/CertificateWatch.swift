import ServiceLifecycle

/// Looks at the listeners' files and takes over what was changed.
struct CertificateWatch: Service {
  /// Between two looks: one that finds a change, and one that finds it finished.
  private static let interval: Duration = .seconds(1)

  let listeners: [LiveTLS]

  func run() async throws {
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        for listener in listeners { listener.look() }
        try? await Task.sleep(for: Self.interval)
      }
    }
    try? await gracefulShutdown()
  }
}
