import AppStore
import AttributionProtocol
import ServiceRuntime

@main
struct NotificationRecoveryMain {
  struct Definition: ServiceDefinition {
    static let name = ServiceName.notificationRecovery
    static let abstract = "Brings back App Store notifications that were missed."

    static func check(_ configuration: DeploymentConfiguration) throws(ConfigurationError) {
      _ = try ApplePacing.rates(configuration.recovery)
      _ = try SignedDataVerifier.configured(configuration)
    }

    static func parts(_ environment: ServiceEnvironment) throws -> ServiceParts { try ServiceParts.notificationRecovery(environment) }
  }

  static func main() async { await ServiceCommand<Definition>.main() }
}
