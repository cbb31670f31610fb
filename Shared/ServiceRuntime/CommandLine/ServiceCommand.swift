public import ArgumentParser

/// The command line of a service's executable: `NAME [serve]`, `NAME health`, `NAME check-configuration`, `NAME --version`, and the
/// service's own commands.
public struct ServiceCommand<Definition: ServiceDefinition>: AsyncParsableCommand {
  public static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: Definition.name.rawValue, abstract: Definition.abstract, version: BuildInformation.text(Definition.name),
      subcommands: [ServeCommand<Definition>.self, HealthCommand<Definition>.self, CheckConfigurationCommand<Definition>.self]
        + Definition.commands,
      defaultSubcommand: ServeCommand<Definition>.self)
  }

  public init() {}
}
