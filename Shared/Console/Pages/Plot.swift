import AttributionProtocol

/// A stacked column chart over time or over values, with everything that its SVG needs. The drawing is stretched to the available width;
/// texts are outside of it, so that they are not stretched.
struct Plot {
  /// A series, which is a part of every column.
  struct Series {
    let name: String
    /// The CSS class of its colour.
    let style: String
    let values: [Int64]

    var total: Int64 { values.reduce(0, +) }
  }

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

  struct Legend {
    let style: String
    let name: String
    let total: String
  }

  struct Row {
    let label: String
    let cells: [String]
  }

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
  let top: String
  let middle: String
  let labels: [String]
  let heads: [String]
  let rows: [Row]
  let hasData: Bool
  let empty: String

  /// - Parameters:
  ///   - names: the names of columns, for the table and tooltips.
  ///   - labels: the labels under the drawing, evenly distributed.
  ///   - isLevel: true if the values are levels at a time, which must not be added up.
  ///   - empty: the text if there are no values.
  init(
    id: String, title: String, unit: String, names: [String], labels: [String], series: [Series], isLevel: Bool = false,
    empty: String = "Nothing in this time.", tableHead: String = "Time"
  ) {
    let shown = series.filter { $0.total > 0 }
    let sums = names.indices.map { place in series.reduce(Int64(0)) { $0 + $1.values[place] } }
    let total = sums.reduce(0, +)
    let bound = Self.bound(sums.max() ?? 0)
    self.id = id
    self.title = title
    self.unit = unit
    self.labels = labels
    self.empty = empty
    hasData = total > 0
    width = Self.number(Double(names.count) * Self.step)
    top = DisplayFormat.short(bound)
    middle = bound % 2 == 0 ? DisplayFormat.short(bound / 2) : ""
    columns = names.indices.map { place in
      var bottom = Self.height
      var bars: [Bar] = []
      for one in shown where one.values[place] > 0 {
        // A value above 0 must be visible.
        let height = max(1, Double(one.values[place]) / Double(bound) * Self.height)
        bottom -= height
        bars.append(
          Bar(
            style: one.style, x: Self.number(Double(place) * Self.step + 1), y: Self.number(max(0, bottom)),
            width: Self.number(Self.step - 2),
            height: Self.number(height)))
      }
      let parts = shown.filter { $0.values[place] > 0 }.map { "\(DisplayFormat.count($0.values[place])) \($0.name)" }
      return Column(
        text: "\(names[place]): \(parts.isEmpty ? "none" : parts.joined(separator: ", "))", x: Self.number(Double(place) * Self.step),
        width: Self.number(Self.step), height: Self.number(Self.height), bars: bars)
    }
    func shownTotal(_ one: Series) -> String { DisplayFormat.count(isLevel ? one.values.last ?? 0 : one.total) }
    legend = shown.map { Legend(style: $0.style, name: $0.name, total: shownTotal($0)) }
    heads = [tableHead] + shown.map(\.name)
    rows = names.indices.filter { sums[$0] > 0 }.map { place in
      Row(label: names[place], cells: shown.map { DisplayFormat.count($0.values[place]) })
    }
    summary =
      total == 0
      ? "\(title): nothing."
      : "\(title): " + (isLevel ? "" : "\(DisplayFormat.count(total)) in all, ")
        + "\(DisplayFormat.count(sums.max() ?? 0)) in the highest column; "
        + shown.map { "\(shownTotal($0)) \($0.name)" }.joined(separator: ", ") + "."
  }

  /// The end of an axis: 1, 2 or 5 times a power of ten.
  static func bound(_ most: Int64) -> Int64 {
    var size: Int64 = 1
    while size < .max / 100 {
      for step in [1, 2, 5] as [Int64] where size * step >= most { return max(1, size * step) }
      size *= 10
    }
    return most
  }

  /// A coordinate, rounded to what a screen can show.
  static func number(_ value: Double) -> String {
    let hundredths = Int((value * 100).rounded())
    if hundredths % 100 == 0 { return String(hundredths / 100) }
    let rest = hundredths % 100
    return "\(hundredths / 100).\(rest < 10 ? "0" : "")\(rest % 10 == 0 ? rest / 10 : rest)"
  }
}

/// A list of values with bars.
struct BarList {
  struct Item {
    let name: String
    let note: String
    let hasNote: Bool
    let style: String
    let count: String
    let share: String
    /// 0 to 100.
    let width: String
  }

  let items: [Item]
  let hasItems: Bool
  let more: String
  let hasMore: Bool

  /// The most frequent first.
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
