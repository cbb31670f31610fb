import AttributionProtocol
import WireJSON

/// Subscriptions of the App Store: gaps in their histories, the history of one subscription, and the notifications of each app.
struct AppStorePage {
  struct GapRow {
    let id: String
    let bundleId: String
    let environment: String
    let missing: String
    let rules: String
    let found: Moment?
    let state: String
    let style: String
    let outcome: String
    let href: String
  }

  struct Step {
    let type: String
    let signed: Moment?
    let state: String
    let isLate: Bool
  }

  struct SubscriptionRow {
    let id: String
    let state: String
    let style: String
    let since: Moment?
    let product: String
    let expires: Moment?
    let renews: String
    let access: String
    let source: String
    let gaps: String
    let hasGaps: Bool
    let steps: [Step]
  }

  private static let maxItems: Int32 = 100

  let layout: Layout
  let states: [Layout.Link]
  /// The options of the form that selects an app; empty if at most one app is configured.
  let apps: [ValuesPage.Choice]
  let hasApps: Bool
  /// The selected state, which the form that selects an app keeps; empty for all states.
  let state: String
  /// A hint that the gaps of some apps are not included; empty if all are.
  let appsHint: String
  let gapsNotice: Notice?
  let figures: [Figure]
  let gaps: [GapRow]
  let hasNoGaps: Bool
  let isCut: Bool
  let mayLookUp: Bool
  let transaction: String
  let isSandbox: Bool
  let subscription: SubscriptionRow?
  let subscriptionNotice: Notice?
  let notifications: BarList?
  let notificationsNotice: Notice?

  init(_ layout: Layout, _ reader: ConsoleReader, _ fields: FormFields, now: Int64) async {
    self.layout = layout
    let path = layout.base + ConsolePage.appStore.path
    let known = ["suspected", "recovered", "unrecoverable"]
    let state = fields["state"].flatMap { known.contains($0) ? $0 : nil }
    let allApps = reader.services.apps.sorted()
    let app = fields["app"].flatMap { allApps.contains($0) ? $0 : nil }
    apps =
      allApps.count < 2
      ? []
      : [ValuesPage.Choice(value: "", name: "All apps", isChosen: app == nil)]
        + allApps.map { ValuesPage.Choice(value: $0, name: $0, isChosen: $0 == app) }
    hasApps = !apps.isEmpty
    self.state = state ?? ""
    let ofApp = app.map { "app=" + FormFields.encoded($0) }
    states =
      [Layout.Link(title: "All", href: path + (ofApp.map { "?" + $0 } ?? ""), isCurrent: state == nil)]
      + known.map {
        Layout.Link(title: Self.gapState($0), href: "\(path)?state=\($0)" + (ofApp.map { "&" + $0 } ?? ""), isCurrent: $0 == state)
      }
    async let gapsResult = reader.gaps(state: state, app: app, limit: Self.maxItems)
    async let valuesResult = reader.verifier(VerifierService.GetValueCounts.self, GetValueCountsRequest(hours: 24))
    let (gapsReading, values) = await (gapsResult, valuesResult)
    gapsNotice = gapsReading.notice
    let all = gapsReading.value?.gaps ?? []
    let found = all.prefix(Int(Self.maxItems))
    gaps = found.map { Self.row($0, path, now: now) }
    hasNoGaps = found.isEmpty && gapsReading.value != nil
    isCut = gapsReading.value?.isCut == true || all.count > found.count
    appsHint =
      gapsReading.value?.queriedApps.map { "Only the first \($0) of \(allApps.count) apps are included. Choose an app to see its gaps." }
      ?? ""
    if gapsReading.value != nil, state == nil {
      let open = found.count { $0.state == "suspected" }
      figures = [
        Figure(
          "Open gaps", DisplayFormat.count(Int64(open)) + (isCut ? "+" : ""), note: "Apple is being queried",
          style: open > 0 ? "warn" : "good"),
        Figure("Closed", DisplayFormat.count(Int64(found.count { $0.state == "recovered" })), note: "the history is complete"),
        Figure(
          "Apple has nothing", DisplayFormat.count(Int64(found.count { $0.state == "unrecoverable" })),
          note: "the state comes from Apple's status, if there is one"),
      ]
    } else {
      figures = []
    }
    notificationsNotice = values.notice
    notifications = values.value.map { values in
      BarList(values.notifications.map { (name: $0.notificationType, note: $0.bundleId, count: $0.count ?? 0) }, style: "s-verified")
    }
    mayLookUp = reader.may(VerifierService.GetSubscriptionState.self)
    transaction = String((fields["transaction"] ?? "").prefix(64))
    isSandbox = fields["environment"] == "Sandbox"
    guard mayLookUp, !transaction.isEmpty else {
      (subscription, subscriptionNotice) = (nil, nil)
      return
    }
    let result = await reader.verifier(
      VerifierService.GetSubscriptionState.self,
      GetSubscriptionStateRequest(originalTransactionId: transaction, environment: isSandbox ? "Sandbox" : "Production"))
    subscriptionNotice = result.notice
    // A closure cannot use `self` before all properties are set.
    let transactionId = transaction
    subscription = result.value.map { Self.subscriptionRow($0, transactionId, now: now) }
  }

  private static func gapState(_ state: String) -> String {
    switch state {
    case "suspected": "Open"
    case "recovered": "Closed"
    case "unrecoverable": "Apple has nothing"
    default: state
    }
  }

  private static func row(_ gap: Gap, _ path: String, now: Int64) -> GapRow {
    var outcome: [String] = []
    if let count = gap.notifications, count > 0 {
      outcome.append("\(DisplayFormat.plural(count, "notification", "notifications")) recovered")
    }
    if let source = gap.repairedBy { outcome.append(source == "status" ? "closed by Apple's status" : "closed by notifications") }
    if let state = gap.observedState { outcome.append("state \(state)") }
    if let error = gap.lastError { outcome.append(Redaction.text(error)) }
    let environment = gap.environment == "Sandbox" ? "&environment=Sandbox" : ""
    return GapRow(
      id: gap.originalTransactionId, bundleId: gap.bundleId, environment: gap.environment, missing: gap.missing,
      rules: (gap.rules.isEmpty ? [gap.rule] : gap.rules).joined(separator: ", "), found: Moment(gap.suspectedAt, now: now),
      state: gapState(gap.state), style: gap.state == "suspected" ? "warn" : gap.state == "recovered" ? "good" : "plain",
      outcome: outcome.isEmpty ? "–" : outcome.joined(separator: "; "),
      href: "\(path)?transaction=\(FormFields.encoded(gap.originalTransactionId))\(environment)#subscription")
  }

  private static func subscriptionRow(_ response: GetSubscriptionStateResponse, _ transaction: String, now: Int64) -> SubscriptionRow {
    let hasNoProblem = ["active", "grace-period"].contains(response.state)
    return SubscriptionRow(
      id: response.originalTransactionIds.last ?? transaction, state: response.state,
      style: hasNoProblem ? "good" : response.state == "revoked" || response.state == "unknown-overdue" ? "bad" : "warn",
      since: Moment(response.since, now: now), product: response.productId ?? "–", expires: Moment(response.expiresDate, now: now),
      renews: response.autoRenew.map { $0 ? "yes" : "no" } ?? "–",
      access: response.hasAccess.map { $0 ? "yes" : "no" } ?? "you decide",
      source: response.source == "status" ? "Apple's status" : "notifications",
      gaps: response.gaps.map { $0["missing"]?.stringValue ?? "a notification" }.joined(separator: "; "), hasGaps: !response.gaps.isEmpty,
      steps: response.notifications.map { notification in
        let subtype = notification["subtype"]?.stringValue.map { " · \($0)" } ?? ""
        return Step(
          type: (notification["notificationType"]?.stringValue ?? "") + subtype, signed: moment(notification["signedDate"], now: now),
          state: notification["state"]?.stringValue ?? "", isLate: notification["late"]?.boolValue ?? false)
      }.reversed())
  }

  /// A date of a notification: Apple's milliseconds since 1970, or a text in the format of RFC 3339.
  private static func moment(_ value: JSONValue?, now: Int64) -> Moment? {
    if let milliseconds = value?.int64Value { return Moment(Timestamp(millisecondsSince1970: milliseconds), now: now) }
    return Moment(value?.stringValue.flatMap { Timestamp(text: $0) }, now: now)
  }
}
