import Yams

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A problem in a configuration file: an error or an unknown key. ``ConfigurationCheck`` finds them.
public struct ConfigurationProblem: Sendable, Hashable {
  public enum Level: String, Sendable, Hashable {
    /// An error that keeps a service from starting.
    case error
    /// An unknown key.
    case warning
  }

  public let level: Level
  /// The key's path, such as `queues.lease`; empty if the problem concerns the whole file.
  public let place: String
  public let reason: String
  /// Counted from 1; 0 if the problem has no position in the file.
  public let line: Int
  /// Counted from 1; 0 if the problem has no position in the file.
  public let column: Int
  /// The known key that an unknown key most resembles; nil if none is similar.
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

/// Reads a configuration file as the services do, and collects all its problems, without starting anything.
public struct ConfigurationCheck: Sendable {
  /// The maximum number of reported errors. A file with more is probably not a configuration file.
  private static let maxErrors = 100

  public let problems: [ConfigurationProblem]

  /// Finds all errors: after each error the faulty part is removed, and the rest is read again. Errors that only follow from such a
  /// removal, such as a missing value, are left out.
  ///
  /// - Parameter check: checks what only one service requires.
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
    guard let root else {
      problems = [ConfigurationProblem(level: .error, place: "", reason: "is empty", line: 0, column: 0)]
      return
    }
    var (tree, errors, unknown) = (ConfigurationTree(root), [ConfigurationProblem](), [ConfigurationProblem]())
    while errors.count < Self.maxErrors {
      do throws(ConfigurationError) {
        let configuration = try DeploymentConfiguration(
          ConfigurationNode(root: tree.root, file: path), folder: DeploymentConfiguration.folder(of: path))
        unknown = configuration.unknownKeys.map {
          ConfigurationProblem(
            level: .warning, place: tree.original($0.path), reason: "unknown key", line: $0.line, column: $0.column,
            suggestion: $0.nearest)
        }
        try check(configuration)
        break
      } catch {
        let place = error.place == path ? "" : error.place
        let (steps, isComplete) = tree.steps(to: place)
        let originalPath = tree.original(place)
        // A value may be missing only because an earlier error in the same parent was removed.
        let parent = isComplete || steps.isEmpty ? nil : tree.original(ConfigurationTree.text(steps)) + "."
        let follows = errors.contains { error in
          Self.follows(originalPath, from: error.place) || parent.map { error.place.hasPrefix($0) } ?? false
        }
        if !follows {
          let mark = tree.mark(at: steps, isComplete: isComplete)
          errors.append(
            ConfigurationProblem(level: .error, place: originalPath, reason: error.reason, line: mark?.line ?? 0, column: mark?.column ?? 0)
          )
        }
        guard tree.remove(steps) else { break }
      }
    }
    problems = errors + unknown
  }

  /// True if an error at `path` only follows from the removal of the part at `removed`, because that part was at this path or within it.
  private static func follows(_ path: String, from removed: String) -> Bool {
    guard removed.hasPrefix(path) else { return false }
    let rest = removed.dropFirst(path.count)
    return rest.isEmpty || rest.hasPrefix(".") || rest.hasPrefix("[")
  }

  private static func problem(_ error: any Error) -> ConfigurationProblem {
    func problem(_ reason: String, _ mark: Mark?) -> ConfigurationProblem {
      ConfigurationProblem(level: .error, place: "", reason: "is not YAML: \(reason)", line: mark?.line ?? 0, column: mark?.column ?? 0)
    }
    switch error as? YamlError {
    case .reader(let reason, let offset?, _, let yaml):
      // Yams tells only the offset in bytes, and people count columns in characters.
      let before = String(decoding: yaml.utf8.prefix(offset), as: UTF8.self).unicodeScalars
      return ConfigurationProblem(
        level: .error, place: "", reason: "is not YAML: \(reason)", line: before.count { $0 == "\n" } + 1,
        column: before.reversed().prefix { $0 != "\n" }.count + 1)
    case .scanner(_, let reason, let mark, _), .parser(_, let reason, let mark, _), .composer(_, let reason, let mark, _):
      return problem(reason, mark)
    case .duplicatedKeysInMapping(let duplicates, let context):
      let names = duplicates.map { "\($0)" }
      return problem("a mapping has the same key twice: \(names.joined(separator: ", "))", context.mark)
    case .some(let error): return problem("\(error)", nil)
    case nil: return problem("\(error)", nil)
    }
  }

  /// The position of a path such as `apps[0].bundleId` in the file, or of the nearest enclosing element that exists.
  static func mark(of path: String, in root: Node) -> Mark? {
    let tree = ConfigurationTree(root)
    let (steps, isComplete) = tree.steps(to: path)
    return tree.mark(at: steps, isComplete: isComplete)
  }
}
