import AttributionProtocol
import Yams

/// A node of the configuration file with its path, so that every error can name the key. Reading a value of another type throws.
struct ConfigurationNode {
  let path: String
  private let node: Node

  init(yaml: String, file: String) throws(ConfigurationError) {
    do {
      guard let node = try Yams.compose(yaml: yaml) else { throw ConfigurationError(file, "is empty") }
      try self.init(root: node, file: file)
    } catch let error as ConfigurationError {
      throw error
    } catch {
      throw ConfigurationError(file, "is not YAML: \(error)")
    }
  }

  init(root: Node, file: String) throws(ConfigurationError) {
    self.init(path: "", node: root)
    guard root.mapping != nil else { throw ConfigurationError(file, "must contain a mapping of settings") }
  }

  private init(path: String, node: Node) {
    self.path = path
    self.node = node
  }

  private var isNull: Bool { node.scalar != nil && node.null != nil && node.scalar?.style == .plain }

  /// The value of the key; nil if it is missing or null.
  subscript(_ key: String) -> ConfigurationNode? {
    // Keys are compared by text. A lookup in the mapping would compare nodes, and Yams reads Node("39") as a number that differs from a
    // quoted "39" in the file.
    guard let member = node.mapping?.first(where: { $0.key.scalar?.string == key })?.value else { return nil }
    let child = ConfigurationNode(path: path.isEmpty ? key : "\(path).\(key)", node: member)
    return child.isNull ? nil : child
  }

  /// The value of the key, which must be a mapping; nil if it is missing or null.
  func section(_ key: String) throws(ConfigurationError) -> ConfigurationNode? { try self[key]?.mapping() }

  /// The keys of a mapping as they are written: a quoted "39" and an unquoted 39 have the same text. Keys that are lists or mappings are
  /// left out.
  var keys: [String] { node.mapping?.keys.compactMap(\.string) ?? [] }

  func mapping() throws(ConfigurationError) -> ConfigurationNode {
    guard node.mapping != nil else { throw ConfigurationError(path, "must be a mapping") }
    return self
  }

  func list() throws(ConfigurationError) -> [ConfigurationNode] {
    guard let sequence = node.sequence else { throw ConfigurationError(path, "must be a list") }
    return sequence.enumerated().map { ConfigurationNode(path: "\(path)[\($0.offset)]", node: $0.element) }
  }

  func text() throws(ConfigurationError) -> String {
    guard let scalar = node.scalar else { throw ConfigurationError(path, "must be a text") }
    // An unquoted `5` or `true` is a number or a Boolean. A tool that rewrites the file may change how it is written: `1.10` to `1.1`.
    if scalar.style == .plain, node.bool != nil || node.int != nil || node.float != nil {
      throw ConfigurationError(path, "must be a text; put it in quotes")
    }
    return scalar.string
  }

  func integer() throws(ConfigurationError) -> Int64 {
    guard node.scalar != nil, let value = node.int else { throw ConfigurationError(path, "must be a whole number") }
    return Int64(value)
  }

  func number() throws(ConfigurationError) -> Double {
    guard node.scalar != nil, let value = node.float else { throw ConfigurationError(path, "must be a number") }
    return value
  }

  /// The text of a scalar of any type, as it is written; empty for a mapping or a list.
  var plain: String { node.scalar?.string ?? "" }

  var isMapping: Bool { node.mapping != nil }

  /// The number of keys of a mapping.
  var size: Int { node.mapping?.count ?? 0 }

  func bool() throws(ConfigurationError) -> Bool {
    guard node.scalar != nil, let value = node.bool else { throw ConfigurationError(path, "must be true or false") }
    return value
  }

  /// A time such as `250ms`, `30s`, `5m`, `1h` or `7d`.
  func duration() throws(ConfigurationError) -> Duration {
    let text = node.scalar?.string ?? ""
    let digits = text.prefix { $0.isNumber }
    guard let value = Int64(digits), value <= 1 << 40 else {
      throw ConfigurationError(path, "must be a time such as 30s, 5m, 1h or 7d")
    }
    switch text.dropFirst(digits.count) {
    case "ms": return .milliseconds(value)
    case "s": return .seconds(value)
    case "m": return .seconds(value * 60)
    case "h": return .seconds(value * 3600)
    case "d": return .seconds(value * 86_400)
    default: throw ConfigurationError(path, "must be a time such as 30s, 5m, 1h or 7d")
    }
  }

  /// The time in milliseconds since 1970, from a date such as `2026-11-21`, which means midnight UTC, or a time in the format of RFC 3339.
  func date() throws(ConfigurationError) -> Int64 {
    let text = try text()
    guard let time = Timestamp(text: text) ?? Timestamp(text: text + "T00:00:00Z") else {
      throw ConfigurationError(path, "must be a date such as 2026-11-21, or a time such as 2026-11-21T08:00:00Z")
    }
    return time.millisecondsSince1970
  }

  /// The texts of a list, or a single text.
  func texts() throws(ConfigurationError) -> [String] {
    guard node.sequence != nil else { return [try text()] }
    return try list().map { element throws(ConfigurationError) in try element.text() }
  }

  /// The value of the key. Throws if it is missing or null.
  func required(_ key: String) throws(ConfigurationError) -> ConfigurationNode {
    guard let child = self[key] else { throw ConfigurationError(path.isEmpty ? key : "\(path).\(key)", "is missing") }
    return child
  }

  /// The keys of this mapping that are not in `known`. They are most likely misspelt.
  func unknownKeys(_ known: Set<String>) -> [UnknownKey] {
    (node.mapping ?? [:]).compactMap { key, _ in
      guard let name = key.string, !known.contains(name) else { return nil }
      return UnknownKey(
        path: path.isEmpty ? name : "\(path).\(name)", line: key.mark?.line ?? 0, column: key.mark?.column ?? 0, known: known)
    }
  }
}
