import AttributionProtocol

/// Deliveries over time, by kind and verdict, and the reasons of rejections.
struct DeliveriesPage {
  let layout: Layout
  let ranges: [Layout.Link]
  let notice: Notice?
  let figures: [Figure]
  let plot: Plot?
  let kinds: [Plot]
  let hasKinds: Bool
  let reasons: BarList?
  let verdicts: [String]
  let rows: [DeliveryPlots.KindRow]

  init(_ layout: Layout, _ reader: ConsoleReader, _ fields: FormFields) async {
    self.layout = layout
    let range = fields["range"].flatMap(TimeRange.init) ?? .hour
    ranges = TimeRange.links(layout.base + ConsolePage.deliveries.path, current: range)
    let result = await reader.verifier(VerifierService.GetDeliveryCounts.self, range.request)
    notice = result.notice
    guard let response = result.value else {
      (figures, plot, kinds, hasKinds, reasons, verdicts, rows) = ([], nil, [], false, nil, [], [])
      return
    }
    let plots = DeliveryPlots(response, range)
    let all = plots.total()
    figures = [
      Figure("Deliveries", DisplayFormat.count(all), note: "in \(range.name)"),
      Figure(
        "Verified", DisplayFormat.count(plots.total(verdict: "verified")),
        note: DisplayFormat.share(plots.total(verdict: "verified"), of: all)),
      Figure("Duplicates", DisplayFormat.count(plots.total(verdict: "duplicate")), note: "counted before; no second event"),
      Figure(
        "Rejected", DisplayFormat.count(plots.total(verdict: "rejected")),
        note: DisplayFormat.share(plots.total(verdict: "rejected"), of: all)),
      Figure(
        "Given up", DisplayFormat.count(plots.total(verdict: "dead")), note: "dead letters",
        style: plots.total(verdict: "dead") > 0 ? "bad" : "",
        href: layout.base + ConsolePage.deadLetters.path),
    ]
    plot = plots.plot(id: "all", title: "All deliveries by verdict")
    kinds = plots.kinds.enumerated().map { index, kind in plots.plot(id: "kind-\(index)", title: DisplayNames.kind(kind), kind: kind) }
    hasKinds = !kinds.isEmpty
    reasons = plots.reasons
    (verdicts, rows) = plots.table
  }
}
