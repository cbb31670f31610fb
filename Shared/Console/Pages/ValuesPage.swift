import AttributionProtocol

/// The values in verified postbacks: the conversion values of an app, and the source identifiers of an ad network.
struct ValuesPage {
  /// An option of a selection.
  struct Choice {
    let value: String
    let name: String
    let isChosen: Bool
  }

  let layout: Layout
  let range: String
  let ranges: [Layout.Link]
  let notice: Notice?
  let figures: [Figure]
  let apps: [Choice]
  let networks: [Choice]
  let fine: Plot?
  let coarse: BarList
  let campaigns: BarList
  let sources: BarList
  /// The number of values that were not counted one by one.
  let others: String
  let hasOthers: Bool
  let hasAny: Bool

  init(_ layout: Layout, _ reader: ConsoleReader, _ fields: FormFields) async {
    self.layout = layout
    let requested = fields["range"].flatMap(TimeRange.init)
    let range: TimeRange = requested == .week ? .week : .day
    self.range = range.rawValue
    let result = await reader.verifier(VerifierService.GetValueCounts.self, GetValueCountsRequest(hours: range == .week ? 168 : 24))
    notice = result.notice
    let response = result.value ?? GetValueCountsResponse()
    let (app, network) = (fields["app"].flatMap { Int64($0) }, fields["network"])
    func more(_ name: String) -> String { fields[name].map { "&\(name)=\(FormFields.encoded($0))" } ?? "" }
    ranges = TimeRange.links(
      layout.base + ConsolePage.values.path, current: range, among: [.day, .week], more: more("app") + more("network"))
    apps = Self.choices(Set(response.conversions.compactMap(\.appAppleId)).sorted().map { String($0) }, app.map { String($0) }, "All apps")
    networks = Self.choices(Set(response.sources.map(\.adNetworkId)).sorted(), network, "All ad networks")
    let conversions = response.conversions.filter { app == nil || $0.appAppleId == app }
    let sources = response.sources.filter { network == nil || $0.adNetworkId == network }
    hasAny = !response.conversions.isEmpty || !response.sources.isEmpty
    func sum(_ counts: [ConversionCount]) -> Int64 { counts.reduce(0) { $0 + ($1.count ?? 0) } }
    let all = sum(conversions)
    let withFine = sum(conversions.filter { $0.fineValue != nil })
    let withCoarse = sum(conversions.filter { $0.coarseValue != nil })
    figures = [
      Figure("Postbacks", DisplayFormat.count(all), note: "verified, in production"),
      Figure("Fine values", DisplayFormat.share(withFine, of: all), note: DisplayFormat.count(withFine)),
      Figure("Coarse values", DisplayFormat.share(withCoarse, of: all), note: DisplayFormat.count(withCoarse)),
      Figure(
        "Without a value", DisplayFormat.share(all - withFine - withCoarse, of: all), note: "crowd too small for a value, or no win"),
    ]
    var byValue = Array(repeating: Int64(0), count: 64)
    for count in conversions {
      if let value = count.fineValue, (0..<64).contains(value) { byValue[Int(value)] += count.count ?? 0 }
    }
    fine = Plot(
      id: "fine", title: "Fine conversion values", unit: "Postbacks with each value, 0 to 63", names: (0..<64).map { String($0) },
      labels: ["0", "16", "32", "48", "63"], series: [Plot.Series(name: "postbacks", style: "s-verified", values: byValue)],
      empty: "No postback had a fine value in this time range.", tableHead: "Value")
    coarse = BarList(
      ["high", "medium", "low"].map { value in (value, "", sum(conversions.filter { $0.coarseValue == value })) }.filter { $0.2 > 0 },
      style: "s-done")
    var campaigns: [String: Int64] = [:]
    for source in sources { campaigns[String(source.sourceIdentifier.suffix(2)), default: 0] += source.count ?? 0 }
    self.campaigns = BarList(campaigns.map { (name: $0.key, note: "", count: $0.value) })
    self.sources = BarList(
      sources.map { source in
        (
          name: source.sourceIdentifier,
          note: "\(source.adNetworkId), \(DisplayFormat.plural(Int64(source.sourceIdentifier.count), "digit", "digits"))",
          count: source.count ?? 0
        )
      }, limit: 20)
    hasOthers = (response.others ?? 0) > 0
    others = DisplayFormat.count(response.others ?? 0)
  }

  private static func choices(_ values: [String], _ chosen: String?, _ all: String) -> [Choice] {
    [Choice(value: "", name: all, isChosen: chosen == nil)] + values.map { Choice(value: $0, name: $0, isChosen: $0 == chosen) }
  }
}
