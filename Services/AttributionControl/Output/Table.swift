/// The meaning of a cell, which a terminal shows as a colour.
enum CellStyle: Sendable, Hashable {
  case plain, title, good, warning, bad, faint

  /// The SGR parameter (ECMA-48, 8.3.117).
  var code: String? {
    switch self {
    case .plain: nil
    case .title: "1"
    case .good: "32"
    case .warning: "33"
    case .bad: "31"
    case .faint: "2"
    }
  }

  func painted(_ text: String, colours: Bool) -> String {
    guard colours, let code, !text.isEmpty else { return text }
    return "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }
}

/// One value of a table or a record, without control characters.
struct Cell: Sendable, Hashable, ExpressibleByStringLiteral {
  let text: String
  var style: CellStyle = .plain

  init(_ text: String?, _ style: CellStyle = .plain) {
    self.text = Cell.printable(text ?? "")
    self.style = style
  }

  init(stringLiteral value: String) { self.init(value) }

  /// Replaces control characters, because text from outside could otherwise control the terminal.
  static func printable(_ text: String) -> String {
    String(
      String.UnicodeScalarView(
        text.unicodeScalars.map { scalar in
          scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format ? "\u{FFFD}" : scalar
        }))
  }
}

/// Rows in aligned columns.
struct Table: Sendable, Hashable {
  struct Column: Sendable, Hashable, ExpressibleByStringLiteral {
    let title: String
    /// True if the column is aligned on the right.
    var isNumber = false

    init(_ title: String, isNumber: Bool = false) {
      self.title = title
      self.isNumber = isNumber
    }

    init(stringLiteral value: String) { self.init(value) }
  }

  let columns: [Column]
  var rows: [[Cell]] = []

  init(_ columns: [Column], rows: [[Cell]] = []) {
    self.columns = columns
    self.rows = rows
  }

  mutating func add(_ cells: Cell...) { rows.append(cells) }

  /// The titles and the rows, one per line. No line ends with a space.
  func text(colours: Bool) -> String {
    let lines = [columns.map { Cell($0.title.uppercased(), .title) }] + rows
    var widths = [Int](repeating: 0, count: columns.count)
    for line in lines { for (index, cell) in line.enumerated() { widths[index] = max(widths[index], cell.text.count) } }
    return lines.map { line in
      var text = ""
      for (index, cell) in line.enumerated() {
        let padding = String(repeating: " ", count: widths[index] - cell.text.count)
        let painted = cell.style.painted(cell.text, colours: colours)
        if index > 0 { text += "  " }
        if columns[index].isNumber {
          text += padding + painted
        } else {
          text += index + 1 == columns.count ? painted : painted + padding
        }
      }
      while text.last == " " { text.removeLast() }
      return text + "\n"
    }.joined()
  }
}

/// Names and values, one per line.
struct Record: Sendable, Hashable {
  var lines: [(name: String, value: Cell)] = []

  init(_ lines: [(name: String, value: Cell)] = []) { self.lines = lines }

  mutating func add(_ name: String, _ value: Cell) { lines.append((name, value)) }

  /// Adds a value; a nil value is left out.
  mutating func add(_ name: String, _ value: String?, _ style: CellStyle = .plain) {
    if let value, !value.isEmpty { lines.append((name, Cell(value, style))) }
  }

  /// The lines with the values in one column.
  func text(colours: Bool) -> String {
    let width = lines.map(\.name.count).max() ?? 0
    return lines.map { line in
      let padding = String(repeating: " ", count: width - line.name.count + 2)
      return CellStyle.title.painted(line.name, colours: colours) + padding + line.value.style.painted(line.value.text, colours: colours)
        + "\n"
    }.joined()
  }

  static func == (one: Record, other: Record) -> Bool {
    one.lines.map(\.name) == other.lines.map(\.name) && one.lines.map(\.value) == other.lines.map(\.value)
  }

  func hash(into hasher: inout Hasher) { for line in lines { hasher.combine(line.value) } }
}
