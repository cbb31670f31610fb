import AttributionProtocol
import ServiceRuntime
import WireJSON

#if canImport(Glibc)
  import Glibc
#endif

/// Writes a command's result in the requested format.
struct Printer: Sendable {
  let format: OutputFormat
  let colours: Bool

  init(format: OutputFormat, colours: Bool = Terminal.hasColours(STDOUT_FILENO)) {
    self.format = format
    self.colours = colours
  }

  /// Writes the message in its contract's JSON, or a table of it. If it is empty, `none` is written to standard error.
  func show(_ message: some RPCMessage, none: String? = nil, table: () -> Table) throws {
    try show(try Self.value(message), none: none, table: table)
  }

  func show(_ value: JSONValue, none: String? = nil, table: () -> Table) throws {
    guard format == .table else { return try structured(value) }
    let table = table()
    if table.rows.isEmpty, let none { return note(none) }
    try StandardOutput.write(table.text(colours: colours))
  }

  func show(_ message: some RPCMessage, record: () -> Record) throws { try show(try Self.value(message), record: record) }

  func show(_ value: JSONValue, record: () -> Record) throws {
    guard format == .table else { return try structured(value) }
    try StandardOutput.write(record().text(colours: colours))
  }

  /// Writes one of several values: as JSON Lines, or as a YAML document each.
  func stream(_ value: JSONValue, line: () -> String) throws {
    switch format {
    case .table: try StandardOutput.write(line())
    case .json: try StandardOutput.write(value.serializedString + "\n")
    case .yaml: try StandardOutput.write("---\n" + YAMLText.text(value))
    }
  }

  /// Writes text in addition to a table; nothing in the other formats.
  func text(_ text: String) throws { if format == .table { try StandardOutput.write(text) } }

  /// Writes a message to standard error.
  func note(_ text: String) { StandardError.write(text + "\n") }

  static func value(_ message: some RPCMessage) throws(CommandFailure) -> JSONValue {
    do throws(JSONError) { return try JSONValue(parsing: message.json, limits: JSONLimits(depth: 64, values: 1_000_000)) } catch {
      throw CommandFailure(.internalError, "the answer cannot be read: \(error)")
    }
  }

  private func structured(_ value: JSONValue) throws {
    try StandardOutput.write(format == .json ? JSONText.text(value) : YAMLText.text(value))
  }
}

/// Formats values for people.
enum DisplayFormat {
  /// `4.2s`, `3m12s`, `5h07m`, `2d03h`.
  static func age(_ seconds: Double?) -> String {
    guard let seconds else { return "" }
    let whole = Int(seconds.rounded())
    switch seconds {
    case ..<9.95: return "\((max(0, seconds) * 10).rounded() / 10)s"
    case ..<99.5: return "\(whole)s"
    case ..<3600: return "\(whole / 60)m\(two(whole % 60))s"
    case ..<86_400: return "\(whole / 3600)h\(two(whole / 60 % 60))m"
    default: return "\(whole / 86_400)d\(two(whole / 3600 % 24))h"
    }
  }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }

  static func state(_ state: String) -> CellStyle {
    switch state {
    case "ok", "active", "verified", "done", "completed", "recovered", "enabled", "valid", "attributed", "published": .good
    case "warning", "accepted", "running", "suspected", "retiring", "pending", "delayed", "waiting", "leased", "attempt", "queued": .warning
    case "failed", "rejected", "dead", "unrecoverable", "disabled", "gone", "revoked", "cancelled", "invalid", "error": .bad
    case "unwanted": .faint
    default: .plain
    }
  }

  /// `1 event`, `2 events`.
  static func count(_ number: Int64, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
