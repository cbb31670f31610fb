import WireJSON

/// Events as lines of a file.
enum EventRow {
  /// Columns of CSV where none are asked for.
  static let columns = ["id", "time", "type", "source", "subject", "data"]

  static func jsonLine(_ event: JSONObject) -> [UInt8] { JSONValue.object(event).serialized + [10] }

  static func header(_ columns: [String]) -> [UInt8] { line(columns) }

  /// - Parameter columns: paths such as `data.postback.app-id`.
  static func csvLine(_ event: JSONObject, _ columns: [String]) -> [UInt8] { line(columns.map { text(.object(event), path: $0) }) }

  /// What a path leads to: a text as it is, anything else as JSON; empty where there is nothing. Names may have dots in them.
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
    // The longest member whose name the path begins with.
    let members = object.members.filter { path == $0.key || path.hasPrefix($0.key + ".") }
    guard let member = members.max(by: { $0.key.count < $1.key.count }) else { return nil }
    return found(member.value, path.dropFirst(member.key.count + 1))
  }

  /// RFC 4180: fields with a comma, a quote or a line's end are quoted, quotes doubled, lines end with CR LF.
  private static func line(_ fields: [String]) -> [UInt8] {
    let texts = fields.map { field in
      // A spreadsheet would take these for the beginning of a formula, and what stands in an event may come from anybody.
      let guarded = field.first.map { "=+-@\t\r".contains($0) } == true && Double(field) == nil ? "'" + field : field
      guard guarded.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return guarded }
      return "\"" + guarded.replacing("\"", with: "\"\"") + "\""
    }
    return Array((texts.joined(separator: ",") + "\r\n").utf8)
  }
}
