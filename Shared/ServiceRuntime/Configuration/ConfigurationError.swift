/// An error in the configuration. The service does not start.
public struct ConfigurationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The variable, file or key, such as `ATTRIBUTION_CONFIG` or `apps[0].bundleId`.
  public let place: String
  public let reason: String

  public init(_ place: String, _ reason: String) {
    self.place = place
    self.reason = reason
  }

  public var description: String { "\(place): \(reason)" }
}
