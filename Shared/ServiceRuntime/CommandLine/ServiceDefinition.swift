public import ArgumentParser
public import AttributionProtocol

/// What a service's executable must define. ``ServiceCommand`` makes the command line from it, which `main` runs:
///
/// ```swift
/// @main
/// struct SignerMain {
///   struct Definition: ServiceDefinition { … }
///
///   static func main() async { await ServiceCommand<Definition>.main() }
/// }
/// ```
public protocol ServiceDefinition: Sendable {
  static var name: ServiceName { get }
  /// One sentence for `--help`.
  static var abstract: String { get }
  /// Commands in addition to those of every service: `serve`, `health` and `check-configuration`.
  static var commands: [any ParsableCommand.Type] { get }
  /// Checks what only this service requires of the configuration. It starts nothing.
  static func check(_ configuration: DeploymentConfiguration) throws(ConfigurationError)
  /// Creates the service's handlers, workers and checks. `serve` calls it after Redis and signer have answered, if the service needs them.
  static func parts(_ environment: ServiceEnvironment) async throws -> ServiceParts
}

extension ServiceDefinition {
  public static var commands: [any ParsableCommand.Type] { [] }
}
