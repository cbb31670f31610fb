import AttributionProtocol

/// The subscriptions of the feed with their backlogs, lost events and endpoints.
struct FeedPage {
  struct Row {
    let name: String
    /// `pulled` or `pushed`.
    let delivery: String
    let isPushed: Bool
    let state: String
    let style: String
    let backlog: String
    let age: String
    let dropped: String
    let hasDropped: Bool
    /// The filter in words.
    let filter: String
    /// The host of the endpoint; empty for a pulled subscription.
    let endpoint: String
    let trouble: String
    let hasTrouble: Bool
    let since: Moment?
    let lastSuccess: Moment?
  }

  /// A subscription is late if its oldest event has waited for longer, seconds.
  private static let lateSeconds = 300.0

  let layout: Layout
  let notice: Notice?
  let figures: [Figure]
  let rows: [Row]
  let isEmpty: Bool

  init(_ layout: Layout, _ reader: ConsoleReader, now: Int64) async {
    self.layout = layout
    let result = await reader.verifier(EventsService.ListSubscriptions.self, ListSubscriptionsRequest())
    notice = result.notice
    let all = result.value?.subscriptions ?? []
    rows = all.map { Self.row($0, now: now) }
    isEmpty = all.isEmpty && result.value != nil
    let late = all.filter(Self.isLate).count
    let dropped = all.reduce(Int64(0)) { $0 + ($1.dropped ?? 0) }
    let pushed = all.filter { $0.push != nil }
    let down = pushed.filter { $0.endpointStatus.map { $0.state != "enabled" } ?? false }.count
    figures =
      all.isEmpty
      ? []
      : [
        Figure("Subscriptions", DisplayFormat.count(Int64(all.count)), note: "\(DisplayFormat.count(Int64(pushed.count))) pushed"),
        Figure("Late", DisplayFormat.count(Int64(late)), note: "by more than 5 minutes", style: late > 0 ? "warn" : "good"),
        Figure("Lost events", DisplayFormat.count(dropped), note: "not acknowledged in time", style: dropped > 0 ? "bad" : "good"),
        Figure("Endpoints off", DisplayFormat.count(Int64(down)), note: "disabled or gone", style: down > 0 ? "bad" : "good"),
      ]
  }

  /// True if the subscription's oldest event has waited for too long.
  static func isLate(_ one: Subscription) -> Bool { (one.oldestUnacknowledgedAgeSeconds ?? 0) > lateSeconds }

  private static func row(_ one: Subscription, now: Int64) -> Row {
    let status = one.endpointStatus
    let (state, style): (String, String) =
      if let status, status.state != "enabled" {
        (status.state, "bad")
      } else if status?.failingSince != nil {
        ("failing", "warn")
      } else if isLate(one) { ("late", "warn") } else { ("up to date", "good") }
    let trouble = [status?.reason, status?.lastError].compactMap { $0 }.filter { !$0.isEmpty }.map(Redaction.text).joined(separator: "; ")
    return Row(
      name: one.name, delivery: one.push == nil ? "pulled" : "pushed", isPushed: one.push != nil, state: state, style: style,
      backlog: DisplayFormat.count(one.backlog ?? 0), age: one.oldestUnacknowledgedAgeSeconds.map { DisplayFormat.age(seconds: $0) } ?? "–",
      dropped: DisplayFormat.count(one.dropped ?? 0), hasDropped: (one.dropped ?? 0) > 0, filter: filter(one),
      endpoint: one.push?.url.map(Redaction.withoutPath) ?? "", trouble: trouble, hasTrouble: !trouble.isEmpty,
      since: Moment(one.createdAt, now: now), lastSuccess: Moment(status?.lastSuccess, now: now))
  }

  /// The types and the filter of a subscription, as a list for people.
  private static func filter(_ one: Subscription) -> String {
    var parts = one.types.isEmpty ? ["all types"] : one.types
    if let filter = one.filter { parts += filter.adNetworkIds + filter.apps + filter.environments }
    if one.ordered == true || one.push?.ordered == true { parts.append("in order") }
    return parts.joined(separator: ", ")
  }
}
