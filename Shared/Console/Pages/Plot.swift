import AttributionProtocol

/// A stacked column chart over time or over values, with all texts and numbers that its template needs. Browsers stretch the SVG to the
/// available width; texts are outside of the SVG, so that they are not stretched.
struct Plot {
  /// A series, which is a part of every column.
  struct Series {
    let name: String
    /// The CSS class of its colour.
    let style: String
    let values: [Int64]

    var total: Int64 { values.reduce(0, +) }
  }

  /// The part of a column that shows one series, as a rectangle of the SVG.
  struct Bar {
    let style: String
    let x, y, width, height: String
  }

  struct Column {
    /// The tooltip.
    let text: String
    let x, width, height: String
    let bars: [Bar]
  }

  /// A series in the legend.
  struct Legend {
    let style: String
    let name: String
    let total: String
  }

  /// A column of the plot as a row of the table below it.
  struct Row {
    let label: String
    let cells: [String]
  }

  /// The height of the drawing and the width of a column, in units of the SVG.
  static let height = 120.0
  static let step = 10.0

  let id: String
  let title: String
  /// A description for screen readers.
  let summary: String
  let unit: String
  let width: String
  let heightText = Plot.number(Plot.height)
  let columns: [Column]
  let legend: [Legend]
  /// The numbers at the upper end and in the middle of the vertical axis.
  let top: String
  let middle: String
  let labels: [String]
  /// The heads of the table.
  let heads: [String]
  let rows: [Row]
  let hasData: Bool
  let empty: String

  /// - Parameters:
  ///   - unit: what the values are, such as "Deliveries a minute".
  ///   - names: the names of columns, for the table and tooltips.
  ///   - labels: the labels under the drawing, evenly distributed.
  ///   - series: the series, each with one value for each column.
  ///   - isLevel: true if a value is measured at a time, such as a queue's depth. Such values are not added up; the legend shows the last
  ///     one.
  ///   - empty: the text if all values are 0.
  init(
    id: String, title: String, unit: String, names: [String], labels: [String], series: [Series], isLevel: Bool = false,
    empty: String = "Nothing in this time range.", tableHead: String = "Time"
  ) {
    let shown = series.filter { $0.total > 0 }
    let sums = names.indices.map { index in series.reduce(Int64(0)) { $0 + $1.values[index] } }
    let total = sums.reduce(0, +)
    let axisEnd = Self.axisEnd(sums.max() ?? 0)
    self.id = id
    self.title = title
    self.unit = unit
    self.labels = labels
    self.empty = empty
    hasData = total > 0
    width = Self.number(Double(names.count) * Self.step)
    top = DisplayFormat.short(axisEnd)
    middle = axisEnd % 2 == 0 ? DisplayFormat.short(axisEnd / 2) : ""
    columns = names.indices.map { index in
      // SVG counts y from the top, so the first bar is at the bottom and each further one above it.
      var y = Self.height
      var bars: [Bar] = []
      for one in shown where one.values[index] > 0 {
        // A value above 0 must be visible.
        let height = max(1, Double(one.values[index]) / Double(axisEnd) * Self.height)
        y -= height
        bars.append(
          Bar(
            style: one.style, x: Self.number(Double(index) * Self.step + 1), y: Self.number(max(0, y)),
            width: Self.number(Self.step - 2),
            height: Self.number(height)))
      }
      let parts = shown.filter { $0.values[index] > 0 }.map { "\(DisplayFormat.count($0.values[index])) \($0.name)" }
      return Column(
        text: "\(names[index]): \(parts.isEmpty ? "none" : parts.joined(separator: ", "))", x: Self.number(Double(index) * Self.step),
        width: Self.number(Self.step), height: Self.number(Self.height), bars: bars)
    }
    func shownTotal(_ one: Series) -> String { DisplayFormat.count(isLevel ? one.values.last ?? 0 : one.total) }
    legend = shown.map { Legend(style: $0.style, name: $0.name, total: shownTotal($0)) }
    heads = [tableHead] + shown.map(\.name)
    rows = names.indices.filter { sums[$0] > 0 }.map { index in
      Row(label: names[index], cells: shown.map { DisplayFormat.count($0.values[index]) })
    }
    summary =
      total == 0
      ? "\(title): nothing."
      : "\(title): " + (isLevel ? "" : "\(DisplayFormat.count(total)) in all, ")
        + "\(DisplayFormat.count(sums.max() ?? 0)) in the highest column; "
        + shown.map { "\(shownTotal($0)) \($0.name)" }.joined(separator: ", ") + "."
  }

  /// The value at the upper end of an axis: the smallest of 1, 2 or 5 times a power of ten that is not less than the greatest value.
  static func axisEnd(_ greatest: Int64) -> Int64 {
    var power: Int64 = 1
    while power < .max / 100 {
      for factor in [1, 2, 5] as [Int64] where power * factor >= greatest { return max(1, power * factor) }
      power *= 10
    }
    return greatest
  }

  /// A coordinate with at most two decimals.
  static func number(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    if hundredths % 100 == 0 { return String(hundredths / 100) }
    let rest = hundredths % 100
    return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest % 10 == 0 ? rest / 10 : rest)"
  }
}

/// A list of values with horizontal bars, the most frequent value first.
struct BarList {
  struct Item {
    let name: String
    let note: String
    let hasNote: Bool
    let style: String
    let count: String
    let share: String
    /// The width of the bar, 0 to 100.
    let width: String
  }

  let items: [Item]
  let hasItems: Bool
  let more: String
  let hasMore: Bool

  /// - Parameters:
  ///   - limit: the number of values that are shown one by one. The others are counted together.
  ///   - style: the CSS class of the bars' colour.
  init(_ values: [(name: String, note: String, count: Int64)], limit: Int = 12, style: String = "s-verified") {
    let total = values.reduce(Int64(0)) { $0 + $1.count }
    let sorted = values.sorted { ($1.count, $0.name) < ($0.count, $1.name) }
    let greatest = sorted.first?.count ?? 1
    items = sorted.prefix(limit).map { value in
      Item(
        name: value.name, note: value.note, hasNote: !value.note.isEmpty, style: style, count: DisplayFormat.count(value.count),
        share: DisplayFormat.share(value.count, of: total),
        width: Plot.number(max(0.5, Double(value.count) / Double(max(1, greatest)) * 100)))
    }
    hasItems = !items.isEmpty
    let rest = sorted.dropFirst(limit)
    hasMore = !rest.isEmpty
    more = "\(DisplayFormat.count(Int64(rest.count))) more with \(DisplayFormat.count(rest.reduce(0) { $0 + $1.count })) together"
  }
}
