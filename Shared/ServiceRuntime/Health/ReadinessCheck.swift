/// A dependency that must work for calls to be served.
public struct ReadinessCheck: Sendable {
  /// Names the dependency, never its address.
  public let name: String
  /// Returns nil if it works, otherwise a description of what is wrong.
  public let check: @Sendable () async -> String?

  public init(name: String, check: @escaping @Sendable () async -> String?) {
    self.name = name
    self.check = check
  }
}
