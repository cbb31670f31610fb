import AttributionProtocol
import ServiceRuntime

@main
struct ASATokenBrokerMain {
  struct Definition: ServiceDefinition {
    static let name = ServiceName.asaTokenBroker
    static let abstract = "Exchanges AdServices tokens for attribution records."

    static func check(_ configuration: DeploymentConfiguration) throws(ConfigurationError) {
      _ = try BrokerConfiguration(configuration)
    }

    static func parts(_ environment: ServiceEnvironment) throws -> ServiceParts { try ServiceParts.tokenBroker(environment) }
  }

  static func main() async { await ServiceCommand<Definition>.main() }
}
