/// An error in the configuration. At the start it ends the process with exit code 78; after SIGHUP it keeps the previous configuration.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong: a variable, a file or the path of a key, such as `ATTRIBUTION_CONFIG` or `apps[0].bundleId`.
  public let place: String
  /// Completes a sentence that begins with ``place``, such as "must be 1 to 10".
  public let reason: String

  public init(_ place: String, _ reason: String) {
    self.place = place
    self.reason = reason
  }

  public var description: String { "\(place): \(reason)" }
}
