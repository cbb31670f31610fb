public import ArgumentParser

/// `NAME serve`, the default command: runs the service until SIGTERM or SIGINT (`ServiceMain.swift`).
public struct ServeCommand<Definition: ServiceDefinition>: AsyncParsableCommand {
  public static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "serve", abstract: "Serve (the default).",
      discussion: "Settings come from ATTRIBUTION_* variables and the file that ATTRIBUTION_CONFIG names.")
  }

  public init() {}

  public func run() async { await ServiceMain.run(Definition.name) { environment in try await Definition.parts(environment) } }
}
