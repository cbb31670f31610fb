public import ArgumentParser
import HTTPClient

/// `NAME health`: asks the instance on this machine whether it is ready. It needs the environment variables of the instance, which name the
/// port. Health checks of containers use it, because the images have neither a shell nor curl, and because it presents the service's
/// certificate if the port requires one.
public struct HealthCommand<Definition: ServiceDefinition>: AsyncParsableCommand {
  public static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "health", abstract: "Ask the running instance whether it is ready.",
      discussion: """
        Exit code 0: it is ready (with --live: alive); 1: it is not, or does not answer. Example: \(Definition.name.rawValue) health --live
        """)
  }

  @Flag(help: "Ask whether it is alive, even if it is not ready.") var live = false
  @Option(help: "Seconds to wait for the answer.") var timeout = 3.0

  public init() {}

  public func validate() throws {
    guard (0.1...60).contains(timeout) else { throw ValidationError("--timeout must be 0.1 to 60 seconds.") }
  }

  public func run() async throws {
    let probe: HealthProbe
    do throws(ConfigurationError) { probe = HealthProbe(try ServiceVariables(Definition.name)) } catch {
      try Self.fail("\(error)")
    }
    if let reason = await probe.failure(path: live ? "/livez" : "/readyz", timeout: .milliseconds(Int64(timeout * 1000))) {
      try Self.fail(reason)
    }
  }

  private static func fail(_ reason: String) throws -> Never {
    StandardError.write("\(Definition.name.rawValue) health: \(reason)\n")
    throw ExitCode(1)
  }
}
