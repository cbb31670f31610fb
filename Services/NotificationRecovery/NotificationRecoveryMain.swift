import AttributionProtocol
import Logging
import ServiceRuntime

/// The service notification-recovery: it finds missed notifications of the App Store and fetches them from Apple, and makes the other calls
/// to the App Store Server API. `RecoveryParts.swift` builds it.
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
