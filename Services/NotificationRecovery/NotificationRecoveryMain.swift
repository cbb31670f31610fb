import AttributionProtocol
import Logging
import ServiceRuntime

@main
struct NotificationRecoveryMain {
  struct Definition: ServiceDefinition {
    static let name = ServiceName.notificationRecovery
    static let abstract = "Brings back App Store notifications that were missed."

    static func check(_ configuration: DeploymentConfiguration) throws(ConfigurationError) {
      _ = try ApplePacing.rates(configuration.recovery)
      _ = try configuration.signedDataVerifier(Logger(label: "check") { _ in SwiftLogNoOpLogHandler() })
    }

    static func parts(_ environment: ServiceEnvironment) throws -> ServiceParts { try ServiceParts.notificationRecovery(environment) }
  }

  static func main() async { await ServiceCommand<Definition>.main() }
}
