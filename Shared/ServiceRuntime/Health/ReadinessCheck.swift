/// The check of a dependency without which the service cannot serve calls, such as Redis.
public struct ReadinessCheck: Sendable {
  /// The dependency's name in the response to `/readyz`. It must not contain an address, because everyone can read that response.
  public let name: String
  /// Returns nil if the dependency works, otherwise a description of what is wrong.
  public let check: @Sendable () async -> String?

  public init(name: String, check: @escaping @Sendable () async -> String?) {
    self.name = name
    self.check = check
  }
}
