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

  /// Writes an error to standard error, and returns the exit code of a failed command. The usage text is not shown, because the command
  /// line was valid.
  static func fail(_ error: any Error) -> ExitCode {
    StandardError.write("signer: \(error)\n")
    return ExitCode(78)
  }
}
