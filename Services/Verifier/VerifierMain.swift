import ArgumentParser
import AttributionProtocol
import ServiceRuntime

/// The service verifier: it verifies what Apple signed, and publishes the results in the event feed. `VerifierParts.swift` builds it.
@main
struct VerifierMain {
  struct Definition: ServiceDefinition {
    static let name = ServiceName.verifier
    static let abstract = "Verifies what Apple signed and serves the feed of events."
    static var commands: [any ParsableCommand.Type] { [CheckStore.self] }

    static func check(_ configuration: DeploymentConfiguration) throws(ConfigurationError) { try ServiceParts.checkVerifier(configuration) }

    static func parts(_ environment: ServiceEnvironment) throws -> ServiceParts { try ServiceParts.verifier(environment) }
  }

  static func main() async { await ServiceCommand<Definition>.main() }
}
