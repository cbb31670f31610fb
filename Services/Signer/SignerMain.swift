import ArgumentParser
import AttributionProtocol
import ServiceRuntime

@main
struct SignerMain {
  struct Definition: ServiceDefinition {
    static let name = ServiceName.signer
    static let abstract = "Signs ad impressions, App Store Server API tokens and offers."
    static var commands: [any ParsableCommand.Type] { [KeyGen.self, PubKey.self] }

    static func check(_ configuration: DeploymentConfiguration) throws(ConfigurationError) {
      let metrics = MetricsRegistry()
      SigningMetrics.declare(metrics)
      _ = try Keyring(configuration, metrics: metrics)
      _ = try configuration.webAds.signingRule()
    }

    static func parts(_ environment: ServiceEnvironment) throws -> ServiceParts { try ServiceParts.signer(environment) }
  }

  static func main() async { await ServiceCommand<Definition>.main() }

  /// Ends a command with an error message and without a usage text, because the command line was valid.
  static func refuse(_ error: any Error) -> ExitCode {
    StandardError.write("signer: \(error)\n")
    return ExitCode(78)
  }
}
