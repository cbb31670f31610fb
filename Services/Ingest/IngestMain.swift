import AttributionProtocol
import ServiceRuntime

@main
struct IngestMain {
  struct Definition: ServiceDefinition {
    static let name = ServiceName.ingest
    static let abstract = "Takes in postbacks, App Store notifications, AdServices tokens and sessions."

    static func check(_ configuration: DeploymentConfiguration) throws(ConfigurationError) {
      _ = try IngestConfiguration(configuration)
      try LiveRetention.check(configuration)
    }

    static func parts(_ environment: ServiceEnvironment) throws -> ServiceParts { try ServiceParts.ingest(environment) }
  }

  static func main() async { await ServiceCommand<Definition>.main() }
}
