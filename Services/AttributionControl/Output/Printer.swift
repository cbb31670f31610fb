import AttributionProtocol
import ServiceRuntime
import WireJSON

#if canImport(Glibc)
  import Glibc
#endif

/// Writes a command's result in the requested format: a table or record for people, or the message as JSON or YAML.
struct Printer: Sendable {
  let format: OutputFormat
  let colours: Bool

  init(format: OutputFormat, colours: Bool = Terminal.hasColours(STDOUT_FILENO)) {
    self.format = format
    self.colours = colours
  }

  /// Writes a table, or the message in the JSON format of the contract. Instead of a table without rows, `none` is written to standard
  /// error.
  func show(_ message: some RPCMessage, none: String? = nil, table: () -> Table) throws {
    try show(try Self.value(message), none: none, table: table)
  }

  func show(_ value: JSONValue, none: String? = nil, table: () -> Table) throws {
    guard format == .table else { return try structured(value) }
    let table = table()
    if table.rows.isEmpty, let none { return note(none) }
    try StandardOutput.write(table.text(colours: colours))
  }

  /// Writes a record, or the message in the JSON format of the contract.
  func show(_ message: some RPCMessage, record: () -> Record) throws { try show(try Self.value(message), record: record) }

  func show(_ value: JSONValue, record: () -> Record) throws {
    guard format == .table else { return try structured(value) }
    try StandardOutput.write(record().text(colours: colours))
  }

  /// Writes one of several values: the given line for people, a line of JSON Lines, or a YAML document.
  func stream(_ value: JSONValue, line: () -> String) throws {
    switch format {
    case .table: try StandardOutput.write(line())
    case .json: try StandardOutput.write(value.serializedString + "\n")
    case .yaml: try StandardOutput.write("---\n" + YAMLText.text(value))
    }
  }

  /// Writes text if the format is a table. The other formats contain only the message.
  func text(_ text: String) throws { if format == .table { try StandardOutput.write(text) } }

  /// Writes a remark to standard error, so that it is not part of the result.
  func note(_ text: String) { StandardError.write(text + "\n") }

  /// The message in the JSON format of the contract.
  static func value(_ message: some RPCMessage) throws(CommandFailure) -> JSONValue {
    do throws(JSONError) { return try JSONValue(parsing: message.json, limits: JSONLimits(depth: 64, values: 1_000_000)) } catch {
      throw CommandFailure(.internalError, "the answer cannot be read: \(error)")
    }
  }

  private func structured(_ value: JSONValue) throws {
    try StandardOutput.write(format == .json ? JSONText.text(value) : YAMLText.text(value))
  }
}
