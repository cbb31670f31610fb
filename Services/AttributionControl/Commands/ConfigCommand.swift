import ArgumentParser
import AttributionProtocol
import ServiceRuntime
import WireJSON

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

struct ConfigCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "config", abstract: "Check a configuration file before services are started with it.",
    discussion: "Example: attributionctl config check /etc/attribution/configuration.yaml", subcommands: [Check.self])

  struct Check: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "check", abstract: "List each mistake with its line and column.",
      discussion: """
        The command reads the file as the services do. For each service whose executable is found, it also runs \
        SERVICE check-configuration, which finds what else that service would refuse: key files, certificates, strategies. Executables are \
        searched in the folder of attributionctl and then on the PATH. No service is started, and nothing is written. Unknown keys are \
        warnings; with --strict they are errors. Exit code 0: there is no error; 78: there is one, so a service would not start.

        Examples:
          attributionctl config check .data/configuration.yaml
          attributionctl config check configuration.yaml --only signer --strict
        """)

    @Argument(help: "The YAML file.", completion: .file()) var file: String
    @Option(
      parsing: .singleValue,
      help: ArgumentHelp("Check only this service's part and the common part; may be repeated.", valueName: "service"),
      completion: .list(ServiceName.allCases.map(\.rawValue)))
    var only: [String] = []
    @Option(
      help: ArgumentHelp("The only folder in which the services' executables are searched.", valueName: "folder"), completion: .directory)
    var executables: String?
    @Flag(help: "Treat unknown keys as errors.") var strict = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
      for name in only where ServiceName(rawValue: name) == nil {
        throw ValidationError("--only must be one of \(ServiceName.allCases.map(\.rawValue).joined(separator: ", ")).")
      }
    }

    func run() async throws {
      guard FileManager.default.isReadableFile(atPath: file) else { throw CommandFailure(.noInput, "\(file) cannot be read") }
      var problems = ConfigurationCheck(path: file).problems
      var unchecked: [String] = []
      // If the file as a whole cannot be read, each service would report the same problem.
      if !problems.contains(where: { $0.level == .error && $0.place.isEmpty }) {
        for service in ServiceName.allCases where only.isEmpty || only.contains(service.rawValue) {
          guard let executable = ServiceExecutable.find(service, in: executables) else {
            unchecked.append(service.rawValue)
            continue
          }
          for problem in try ServiceExecutable.problems(executable, file)
          where !problems.contains(where: { Self.isSameProblem($0, problem) }) {
            problems.append(problem)
          }
        }
      }
      problems.sort { ($0.line, $0.column) < ($1.line, $1.column) }
      try show(problems, unchecked, Printer(format: output.output ?? .table))
      if problems.contains(where: { $0.level == .error || strict }) { throw ExitCode(ExitStatus.configuration.rawValue) }
    }

    /// True if two services report the same problem. One of them may name a list, and the other an element of it.
    static func isSameProblem(_ one: ConfigurationProblem, _ other: ConfigurationProblem) -> Bool {
      one.line == other.line && one.reason == other.reason && (one.place.hasPrefix(other.place) || other.place.hasPrefix(one.place))
    }

    private func show(_ problems: [ConfigurationProblem], _ unchecked: [String], _ printer: Printer) throws {
      if printer.format == .table {
        for problem in problems {
          let style: CellStyle = problem.level == .error ? .bad : .warning
          let text = Cell.printable(problem.text(file: file))
          let label = " \(problem.level.rawValue): "
          let painted = printer.colours ? text.replacing(label, with: style.painted(label, colours: true), maxReplacements: 1) : text
          try printer.text(painted + "\n")
        }
        if problems.isEmpty { try printer.text("\(Cell.printable(file)): no mistakes\n") }
        if !unchecked.isEmpty {
          printer.note(
            "not checked, because no executable was found: \(unchecked.joined(separator: ", ")); use --executables")
        }
        return
      }
      try printer.show([
        "file": .string(file), "problems": .array(problems.map { .object($0.json) }), "notAsked": .array(unchecked.map { .string($0) }),
      ]) { Record() }
    }
  }
}
