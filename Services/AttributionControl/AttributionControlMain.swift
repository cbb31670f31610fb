import ArgumentParser
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#endif

/// The `attributionctl` command: operates the services over their public contract.
///
/// A command that calls a service makes a ``Connection`` from its flags, the environment and a profile (Profiles/ConnectionOptions.swift),
/// calls methods with `Connection.ask`, and writes the answer with a ``Printer`` as a table, JSON or YAML. An error becomes a
/// ``CommandFailure``, which has the exit code. Commands/Queues/QueuesCommand.swift is a typical command; read it first.
@main
struct AttributionControl: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attributionctl", abstract: "Inspects and operates the Apple attribution services.",
    discussion: """
      Addresses and the token come from flags, ATTRIBUTIONCTL_* variables or a profile; the first of these that has a value wins. Without \
      an address, a service is expected on this machine at its default port. Each kind of failure has its own exit code; \
      Documentation/attributionctl.md lists them.

      Examples:
        attributionctl doctor
        attributionctl events tail --type skadnetwork
        attributionctl deliveries show 017-0a1b2c3d4e5f60718293a4b5c6d7e8f9
        attributionctl --generate-completion-script bash > /etc/bash_completion.d/attributionctl
      """,
    version: "attributionctl \(BuildInformation.version) (commit \(BuildInformation.commit), \(BuildInformation.build) build)",
    subcommands: [ReferenceCommand.self],
    groupedSubcommands: [
      CommandGroup(name: "Test:", subcommands: [SignCommand.self, VerifyCommand.self, SendCommand.self]),
      CommandGroup(
        name: "Inspect:",
        subcommands: [
          EventsCommand.self, DeliveriesCommand.self, SubscriptionsCommand.self, QueuesCommand.self, KeysCommand.self, GapsCommand.self,
        ]),
      CommandGroup(
        name: "Diagnose and repair:", subcommands: [DoctorCommand.self, DeadLettersCommand.self, RecoverCommand.self, MigrateCommand.self]),
      CommandGroup(
        name: "Call Apple:", subcommands: [RetentionCommand.self, AdvancedCommerceCommand.self, ExternalPurchaseCommand.self]),
      CommandGroup(name: "Set up:", subcommands: [ConfigCommand.self, ProfilesCommand.self]),
    ])

  static func main() async {
    signal(SIGPIPE, SIG_IGN)
    Terminal.occupyClosedStreams()
    do {
      if let failure = misspelt(Array(CommandLine.arguments.dropFirst())) { throw failure }
      var command = try parseAsRoot()
      if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
    } catch let failure as CommandFailure {
      let colours = Terminal.hasColours(STDERR_FILENO)
      StandardError.write(CellStyle.bad.painted("error:", colours: colours) + " \(failure)\n")
      Glibc.exit(failure.code)
    } catch is StandardOutput.Closed {
      Glibc.exit(0)
    } catch is CancellationError {
      Glibc.exit(ExitStatus.interrupted.rawValue)
    } catch {
      exit(withError: error)
    }
  }

  /// Finds the first argument that is not a command where a command is required, and suggests the command with the most similar name. Nil
  /// if there is no such argument.
  static func misspelt(_ arguments: [String]) -> CommandFailure? {
    var (command, path): (any ParsableCommand.Type, String) = (Self.self, "attributionctl")
    for argument in arguments {
      let configuration = command.configuration
      guard !argument.hasPrefix("-"), argument != "help", !configuration.subcommands.isEmpty else { return nil }
      if let next = configuration.subcommands.first(where: { $0.configuration.commandName == argument }) {
        (command, path) = (next, path + " " + argument)
        continue
      }
      // If there is a default subcommand, this may be an argument of that subcommand, as `intake` in `queues intake`.
      guard configuration.defaultSubcommand == nil else { return nil }
      let names = configuration.subcommands.filter { $0.configuration.shouldDisplay }.compactMap { $0.configuration.commandName }
      let nearest = Spelling.nearest(to: argument, among: names)
      return CommandFailure(
        .usage, "\(path) has no command \(Cell.printable(argument))",
        advice: nearest.map { "Did you mean \($0)?" } ?? "Its commands: \(names.sorted().joined(separator: ", ")).")
    }
    return nil
  }
}
