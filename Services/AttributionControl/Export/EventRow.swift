import WireJSON

/// Formats events as lines of an exported file, in JSON Lines or CSV.
enum EventRow {
  /// The default columns of CSV.
  static let columns = ["id", "time", "type", "source", "subject", "data"]

  static func jsonLine(_ event: JSONObject) -> [UInt8] { JSONValue.object(event).serialized + [10] }

  static func header(_ columns: [String]) -> [UInt8] { line(columns) }

  /// - Parameter columns: paths into the event, such as `data.postback.app-id`.
  static func csvLine(_ event: JSONObject, _ columns: [String]) -> [UInt8] { line(columns.map { text(.object(event), path: $0) }) }

  /// The text of the value at a path: a string without quotes, any other value as JSON, and nothing for null or a missing value. Member
  /// names may contain dots.
  static func text(_ value: JSONValue, path: String) -> String {
    guard let found = find(value, path[...]) else { return "" }
    return switch found {
    case .null: ""
    case .string(let text): text
    default: found.serializedString
    }
  }

  private static func find(_ value: JSONValue, _ path: Substring) -> JSONValue? {
    guard !path.isEmpty else { return value }
    guard case .object(let object) = value else { return nil }
    // A path such as `a.b` can begin with the names `a` and `a.b`: the longest one is used.
    let members = object.members.filter { path == $0.key || path.hasPrefix($0.key + ".") }
    guard let member = members.max(by: { $0.key.count < $1.key.count }) else { return nil }
    return find(member.value, path.dropFirst(member.key.count + 1))
  }

  /// Formats a line as RFC 4180 defines it: a field with a comma, a quote or a line break is quoted, its quotes are doubled, and the line
  /// ends with CR LF.
  private static func line(_ fields: [String]) -> [UInt8] {
    let texts = fields.map { field in
      // A spreadsheet would execute a field that begins with one of these characters as a formula, and events contain data from untrusted
      // senders. An apostrophe before the field prevents this.
      let disarmed = field.first.map { "=+-@\t\r".contains($0) } == true && Double(field) == nil ? "'" + field : field
      guard disarmed.contains(where: { $0 == "," || $0 == "\"" || $0.isNewline }) else { return disarmed }
      return "\"" + disarmed.replacing("\"", with: "\"\"") + "\""
    }
    return Array((texts.joined(separator: ",") + "\r\n").utf8)
  }
}
