import Yams

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Something in a configuration file that is wrong, or that nobody reads.
public struct ConfigurationProblem: Sendable, Hashable {
  public enum Level: String, Sendable, Hashable {
    /// A service would not start.
    case error
    /// A key that nobody reads.
    case warning
  }

  public let level: Level
  /// `queues.lease`; empty for the whole file.
  public let place: String
  public let reason: String
  /// From 1; 0 where the place is not in the file.
  public let line: Int
  public let column: Int
  /// What may have been meant.
  public let suggestion: String?

  public init(level: Level, place: String, reason: String, line: Int, column: Int, suggestion: String? = nil) {
    self.level = level
    self.place = place
    self.reason = reason
    self.line = line
    self.column = column
    self.suggestion = suggestion
  }
}

/// Reads a configuration file as the services do, without starting anything.
public struct ConfigurationCheck: Sendable {
  public let problems: [ConfigurationProblem]

  /// - Parameter check: what one service asks of the configuration beyond what all do.
  public init(path: String, _ check: (DeploymentConfiguration) throws(ConfigurationError) -> Void = { _ in }) {
    guard let bytes = FileManager.default.contents(atPath: path) else {
      problems = [ConfigurationProblem(level: .error, place: "", reason: "the file cannot be read", line: 0, column: 0)]
      return
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      problems = [ConfigurationProblem(level: .error, place: "", reason: "is not UTF-8", line: 0, column: 0)]
      return
    }
    let root: Node?
    do { root = try Yams.compose(yaml: text) } catch {
      problems = [Self.problem(error)]
      return
    }
    do throws(ConfigurationError) {
      let configuration = try DeploymentConfiguration.load(path: path)
      let unknown = configuration.unknownKeys.map {
        ConfigurationProblem(
          level: .warning, place: $0.path, reason: "nobody reads this key", line: $0.line, column: $0.column,
          suggestion: $0.nearest)
      }
      do throws(ConfigurationError) {
        try check(configuration)
        problems = unknown
      } catch { problems = [Self.problem(error, root, path)] + unknown }
    } catch {
      problems = [Self.problem(error, root, path)]
    }
  }

  private static func problem(_ error: ConfigurationError, _ root: Node?, _ file: String) -> ConfigurationProblem {
    let place = error.place == file ? "" : error.place
    let mark = root.flatMap { Self.mark(of: place, in: $0) }
    return ConfigurationProblem(
      level: .error, place: place, reason: error.reason, line: mark?.line ?? 0, column: mark?.column ?? 0)
  }

  private static func problem(_ error: any Error) -> ConfigurationProblem {
    func problem(_ reason: String, _ mark: Mark?) -> ConfigurationProblem {
      ConfigurationProblem(level: .error, place: "", reason: "is not YAML: \(reason)", line: mark?.line ?? 0, column: mark?.column ?? 0)
    }
    switch error as? YamlError {
    case .scanner(_, let reason, let mark, _), .parser(_, let reason, let mark, _), .composer(_, let reason, let mark, _):
      return problem(reason, mark)
    case .duplicatedKeysInMapping(let duplicates, let context):
      let names = duplicates.map { "\($0)" }
      return problem("a key stands twice in one mapping: \(names.joined(separator: ", "))", context.mark)
    case .some(let error): return problem("\(error)", nil)
    case nil: return problem("\(error)", nil)
    }
  }

  /// Where a place such as `apps[0].bundleId` stands in the file, or the nearest thing around it that is there. A key may have dots in it.
  static func mark(of place: String, in root: Node) -> Mark? {
    var (node, mark) = (root, root.mark)
    var rest = place[...]
    while !rest.isEmpty {
      if rest.hasPrefix("."), !rest.dropFirst().isEmpty { rest = rest.dropFirst() }
      if rest.hasPrefix("["), let end = rest.firstIndex(of: "]"), let index = Int(rest.dropFirst()[..<end]), let list = node.sequence,
        list.indices.contains(index)
      {
        node = list[index]
        mark = node.mark
        rest = rest[rest.index(after: end)...]
        continue
      }
      let members = (node.mapping ?? [:]).compactMap { key, value in key.scalar.map { (name: $0.string, key: key, value: value) } }
      // The longest name that fits: "39" before "3".
      let found = members.filter { member in
        guard !member.name.isEmpty, rest.hasPrefix(member.name) else { return false }
        let behind = rest.dropFirst(member.name.count)
        return behind.isEmpty || behind.hasPrefix(".") || behind.hasPrefix("[")
      }.max { $0.name.count < $1.name.count }
      guard let found else { return mark }
      rest = rest.dropFirst(found.name.count)
      node = found.value
      mark = rest.isEmpty ? node.mark : found.key.mark
    }
    return mark
  }
}
