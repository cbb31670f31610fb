import ArgumentParser
import ServiceRuntime

#if canImport(Glibc)
  import Glibc
#endif

/// The `attributionctl` command: operates the services over their public contract.
@main
struct AttributionControl: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "attributionctl", abstract: "Inspects and operates the Apple attribution services.",
    discussion: """
      Addresses and the token come from flags, ATTRIBUTIONCTL_* variables or a profile, in this order. By default the services are \
      expected on this machine. Each kind of failure has its own exit code; Documentation/attributionctl.md lists them.

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

  /// Finds the first word that is not a command where a command is required, and names the command that may have been meant.
  static func misspelt(_ words: [String]) -> CommandFailure? {
    var (command, path): (any ParsableCommand.Type, String) = (Self.self, "attributionctl")
    for word in words {
      let configuration = command.configuration
      guard !word.hasPrefix("-"), word != "help", !configuration.subcommands.isEmpty else { return nil }
      if let next = configuration.subcommands.first(where: { $0.configuration.commandName == word }) {
        (command, path) = (next, path + " " + word)
        continue
      }
      // If there is a default subcommand, the word may be that one's first argument.
      guard configuration.defaultSubcommand == nil else { return nil }
      let names = configuration.subcommands.filter { $0.configuration.shouldDisplay }.compactMap { $0.configuration.commandName }
      let nearest = Spelling.nearest(to: word, among: names)
      return CommandFailure(
        .usage, "\(path) has no command \(Cell.printable(word))",
        advice: nearest.map { "Did you mean \($0)?" } ?? "Its commands: \(names.sorted().joined(separator: ", ")).")
    }
    return nil
  }
}
