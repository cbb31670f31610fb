import AttributionProtocol

/// The counts of `GetDeliveryCounts`, summed up for the plots and tables of pages.
struct DeliveryPlots {
  /// The counts of one column of a plot, which are those of one or more periods of the response.
  struct Column {
    /// The beginning of the first period.
    let start: Timestamp
    let counts: [DeliveryCount]
  }

  let columns: [Column]
  let range: TimeRange

  init(_ response: GetDeliveryCountsResponse, _ range: TimeRange) {
    self.range = range
    let periods = response.periods
    columns = stride(from: 0, to: periods.count, by: range.periodsPerColumn).map { first in
      let own = periods[first..<min(first + range.periodsPerColumn, periods.count)]
      return Column(start: own[first].start ?? Timestamp(seconds: 0), counts: own.flatMap(\.counts))
    }
  }

  var all: [DeliveryCount] { columns.flatMap(\.counts) }

  /// The number of deliveries in the time range.
  func total(_ matches: (DeliveryCount) -> Bool = { _ in true }) -> Int64 {
    all.reduce(0) { $0 + (matches($1) ? $1.count ?? 0 : 0) }
  }

  func total(verdict: String) -> Int64 { total { $0.verdict == verdict } }

  /// The kinds with deliveries, in the order of ``DisplayNames/kinds``; unknown kinds come last.
  var kinds: [String] {
    let found = Set(all.map(\.kind))
    let known = DisplayNames.kinds.map(\.0).filter(found.contains)
    return known + found.subtracting(known).sorted()
  }

  /// A plot by verdict, of one kind or of all.
  func plot(id: String, title: String, kind: String? = nil) -> Plot {
    let found = Set(all.map(\.verdict))
    let verdicts = DisplayNames.verdicts + found.subtracting(DisplayNames.verdicts).sorted()
    let series = verdicts.map { verdict in
      Plot.Series(
        name: DisplayNames.verdict(verdict), style: DisplayNames.verdicts.contains(verdict) ? "s-\(verdict)" : "s-other",
        values: columns.map { column in
          column.counts.reduce(0) { $0 + ($1.verdict == verdict && (kind == nil || $1.kind == kind) ? $1.count ?? 0 : 0) }
        })
    }
    return Plot(id: id, title: title, unit: "Deliveries \(range.unit)", names: names, labels: labels, series: series)
  }

  /// The time of each column, for its tooltip and the table.
  private var names: [String] {
    columns.map {
      range == .hour || range == .sixHours
        ? DisplayFormat.clock($0.start) : "\(DisplayFormat.day($0.start)) \(DisplayFormat.clock($0.start))"
    }
  }

  /// The times of the first, the middle and the last column, for the axis.
  private var labels: [String] {
    guard let first = columns.first, let last = columns.last else { return [] }
    let middle = columns[columns.count / 2]
    return [first, middle, last].map { range == .week ? DisplayFormat.day($0.start) : DisplayFormat.clock($0.start) }
  }

  /// The reasons of rejections.
  var reasons: BarList {
    var counts: [String: Int64] = [:]
    for count in all where count.verdict == "rejected" { counts[count.reason ?? "unknown", default: 0] += count.count ?? 0 }
    return BarList(counts.map { (name: $0.key, note: DisplayNames.reason($0.key), count: $0.value) }, limit: 20, style: "s-rejected")
  }

  struct KindRow {
    let kind: String
    let cells: [String]
    let total: String
  }

  /// A table of kinds and verdicts.
  var table: (verdicts: [String], rows: [KindRow]) {
    let verdicts = DisplayNames.verdicts.filter { total(verdict: $0) > 0 }
    let rows = kinds.map { kind in
      KindRow(
        kind: DisplayNames.kind(kind),
        cells: verdicts.map { verdict in DisplayFormat.count(total { $0.kind == kind && $0.verdict == verdict }) },
        total: DisplayFormat.count(total { $0.kind == kind }))
    }
    return (verdicts.map(DisplayNames.verdict), rows)
  }
}
