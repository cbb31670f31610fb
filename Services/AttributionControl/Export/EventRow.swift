import WireJSON

/// Formats events as lines of a file.
enum EventRow {
  /// The default columns of CSV.
  static let columns = ["id", "time", "type", "source", "subject", "data"]

  static func jsonLine(_ event: JSONObject) -> [UInt8] { JSONValue.object(event).serialized + [10] }

  static func header(_ columns: [String]) -> [UInt8] { line(columns) }

  /// - Parameter columns: paths such as `data.postback.app-id`.
  static func csvLine(_ event: JSONObject, _ columns: [String]) -> [UInt8] { line(columns.map { text(.object(event), path: $0) }) }

  /// The value at a path: a string unquoted, any other value as JSON, and empty if there is none. Member names may contain dots.
  static func text(_ value: JSONValue, path: String) -> String {
    guard let found = found(value, path[...]) else { return "" }
    return switch found {
    case .null: ""
    case .string(let text): text
    default: found.serializedString
    }
  }

  private static func found(_ value: JSONValue, _ path: Substring) -> JSONValue? {
    guard !path.isEmpty else { return value }
    guard case .object(let object) = value else { return nil }
    // The longest member name that the path begins with is taken.
    let members = object.members.filter { path == $0.key || path.hasPrefix($0.key + ".") }
    guard let member = members.max(by: { $0.key.count < $1.key.count }) else { return nil }
    return found(member.value, path.dropFirst(member.key.count + 1))
  }

  /// Formats a line of RFC 4180: fields with a comma, a quote or a line break are quoted, quotes are doubled, lines end with CR LF.
  private static func line(_ fields: [String]) -> [UInt8] {
    let texts = fields.map { field in
      // A spreadsheet would read a field with these first characters as a formula, and events contain data from untrusted senders.
      let guarded = field.first.map { "=+-@\t\r".contains($0) } == true && Double(field) == nil ? "'" + field : field
      guard guarded.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return guarded }
      return "\"" + guarded.replacing("\"", with: "\"\"") + "\""
    }
    return Array((texts.joined(separator: ",") + "\r\n").utf8)
  }
}
