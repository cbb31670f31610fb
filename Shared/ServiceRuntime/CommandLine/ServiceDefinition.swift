public import ArgumentParser
public import AttributionProtocol

/// What tells one service's executable from another's.
public protocol ServiceDefinition: Sendable {
  static var name: ServiceName { get }
  /// One sentence for `--help`.
  static var abstract: String { get }
  /// Commands beside `serve` and `health`.
  static var commands: [any ParsableCommand.Type] { get }
  /// Refuses a configuration that the service would not start with, beyond what all services ask of it. Starts nothing.
  static func check(_ configuration: DeploymentConfiguration) throws(ConfigurationError)
  /// Puts the service together from what it finds at start.
  static func parts(_ environment: ServiceEnvironment) async throws -> ServiceParts
}

extension ServiceDefinition {
  public static var commands: [any ParsableCommand.Type] { [] }
}
