public import ArgumentParser
public import AttributionProtocol

/// The definition of a service's executable.
public protocol ServiceDefinition: Sendable {
  static var name: ServiceName { get }
  /// One sentence for `--help`.
  static var abstract: String { get }
  /// Commands beside `serve` and `health`.
  static var commands: [any ParsableCommand.Type] { get }
  /// Checks the service's own requirements of the configuration, beyond those of all services. Starts nothing.
  static func check(_ configuration: DeploymentConfiguration) throws(ConfigurationError)
  /// Builds the service from its environment.
  static func parts(_ environment: ServiceEnvironment) async throws -> ServiceParts
}

extension ServiceDefinition {
  public static var commands: [any ParsableCommand.Type] { [] }
}
