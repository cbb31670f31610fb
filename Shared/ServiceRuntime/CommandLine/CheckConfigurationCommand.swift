public import ArgumentParser
import WireJSON

/// `NAME check-configuration FILE`: reports the errors in a configuration file that would prevent this service from starting, and unknown
/// keys. `attributionctl config check` runs it for all services.
public struct CheckConfigurationCommand<Definition: ServiceDefinition>: AsyncParsableCommand {
  public static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "check-configuration", abstract: "Say what is wrong with a configuration file, without starting anything.",
      discussion: """
        Checks everything that this service reads from it, including key files and certificates. Exit code 0: the service would start with \
        it; 78: it would not. Example: \(Definition.name.rawValue) check-configuration /etc/attribution/configuration.yaml
        """)
  }

  public enum Output: String, ExpressibleByArgument, CaseIterable, Sendable { case text, json }

  @Argument(help: "The YAML file.") var file: String
  @Option(help: "text or json.") var output = Output.text

  public init() {}

  public func run() async throws {
    let isDevelopment = ServiceVariables.isDevelopment
    let check = ConfigurationCheck(path: file) { configuration throws(ConfigurationError) in
      try configuration.checkGenerations(development: isDevelopment)
      try Definition.check(configuration)
    }
    switch output {
    case .text:
      for problem in check.problems { print(problem.text(file: file)) }
    case .json: print(JSONValue.array(check.problems.map { .object($0.json) }).serializedString)
    }
    if check.problems.contains(where: { $0.level == .error }) { throw ExitCode(78) }
  }
}

extension ConfigurationProblem {
  /// The problem in the format of compiler messages: file, line, column, message.
  public func text(file: String) -> String {
    var text = line > 0 ? "\(file):\(line):\(column): " : "\(file): "
    text += "\(level.rawValue): " + (place.isEmpty ? reason : "\(place): \(reason)")
    if let suggestion { text += "; did you mean \(suggestion)?" }
    return text
  }

  /// The problem as `--output json` prints it.
  public var json: JSONObject {
    var object: JSONObject = ["level": .string(level.rawValue), "place": .string(place), "reason": .string(reason)]
    if line > 0 {
      object["line"] = .integer(line)
      object["column"] = .integer(column)
    }
    object["suggestion"] = suggestion.map { .string($0) }
    return object
  }

  /// Parses ``json``; nil if it is invalid.
  public init?(json: JSONValue) {
    guard let level = json["level"]?.stringValue.flatMap(Level.init), let place = json["place"]?.stringValue,
      let reason = json["reason"]?.stringValue
    else { return nil }
    self.init(
      level: level, place: place, reason: reason, line: Int(json["line"]?.int64Value ?? 0),
      column: Int(json["column"]?.int64Value ?? 0), suggestion: json["suggestion"]?.stringValue)
  }
}
