import AttributionProtocol

/// The overview: shows the most important figures, and the problems that an operator should know.
struct OverviewPage {
  /// A problem that needs attention.
  struct Concern {
    /// The CSS class: `bad` if the operator must act, or else `warn`.
    let style: String
    let label: String
    let text: String
    let href: String
  }

  let layout: Layout
  let figures: [Figure]
  /// The worst first.
  let concerns: [Concern]
  /// True if there are no concerns and no query failed.
  let isFine: Bool
  let plot: Plot?
  /// The notice in place of the plot.
  let notice: Notice?
  /// The other notices, each once.
  let notices: [Notice]

  init(_ layout: Layout, _ reader: ConsoleReader) async {
    self.layout = layout
    async let countsResult = reader.verifier(VerifierService.GetDeliveryCounts.self, TimeRange.hour.request)
    async let queuesResult = reader.verifier(QueuesService.ListQueues.self, ListQueuesRequest())
    async let subscriptionsResult = reader.verifier(EventsService.ListSubscriptions.self, ListSubscriptionsRequest())
    async let gapsResult = reader.gaps(state: "suspected", limit: 1000)
    async let keysResult = reader.signer(SignerService.ListSigningKeys.self, ListSigningKeysRequest())
    let (counts, queues, subscriptions, gaps, keys) = await (countsResult, queuesResult, subscriptionsResult, gapsResult, keysResult)
    func href(_ page: ConsolePage) -> String { layout.base + page.path }
    var figures: [Figure] = []
    var concerns: [Concern] = []
    func concern(_ style: String, _ text: String, _ page: ConsolePage) {
      concerns.append(Concern(style: style, label: style == "bad" ? "Problem" : "Warning", text: text, href: href(page)))
    }
    var plot: Plot?
    if let counts = counts.value {
      let plots = DeliveryPlots(counts, .hour)
      plot = plots.plot(id: "last-hour", title: "Deliveries in the last hour")
      let (all, rejected) = (plots.total(), plots.total(verdict: "rejected"))
      figures.append(Figure("Deliveries", DisplayFormat.count(all), note: "in the last hour", href: href(.deliveries)))
      // A few rejected deliveries are no reason for a warning, whatever their share.
      let isHigh = rejected >= 20 && rejected * 2 > all
      figures.append(
        Figure(
          "Rejected", DisplayFormat.share(rejected, of: all), note: DisplayFormat.plural(rejected, "delivery", "deliveries"),
          style: isHigh ? "warn" : "",
          href: href(.deliveries)))
      if isHigh {
        concern(
          "warn", "More than half of the deliveries of the last hour were rejected. The reasons show whether they are forged.", .deliveries)
      }
    }
    if let queues = queues.value?.queues {
      Self.add(queues, &figures, href, concern)
    }
    if let subscriptions = subscriptions.value?.subscriptions {
      Self.add(subscriptions, &figures, href, concern)
    }
    if let found = gaps.value {
      let count = Int64(found.gaps.count)
      figures.append(
        Figure(
          "Open gaps", DisplayFormat.count(count) + (found.isCut ? "+" : ""), note: "in App Store subscriptions",
          style: count > 0 ? "warn" : "",
          href: href(.appStore)))
      let failed = found.gaps.filter { $0.lastError != nil }
      if !failed.isEmpty {
        concern("warn", "Apple could not be queried yet for \(DisplayFormat.plural(Int64(failed.count), "gap", "gaps")).", .appStore)
      }
    }
    for owner in (keys.value.map { KeysPage.owners($0.keys) } ?? []) where !owner.signs {
      concern("bad", "\(owner.name) has no active key for \(owner.use): they cannot be signed.", .keys)
    }
    self.plot = plot
    self.figures = figures
    self.concerns = concerns.sorted { ($0.style == "bad" ? 0 : 1) < ($1.style == "bad" ? 0 : 1) }
    notice = counts.notice
    var seen: Set<Notice> = []
    notices = [queues.notice, subscriptions.notice, gaps.notice, keys.notice].compactMap { $0 }.filter { seen.insert($0).inserted }
    isFine = concerns.isEmpty && !notices.contains { $0.style == "bad" } && notice?.style != "bad"
  }

  private static func add(
    _ queues: [QueueState], _ figures: inout [Figure], _ href: (ConsolePage) -> String, _ concern: (String, String, ConsolePage) -> Void
  ) {
    let waiting = queues.reduce(Int64(0)) { $0 + ($1.depth ?? 0) }
    let dead = queues.reduce(Int64(0)) { $0 + ($1.dead ?? 0) }
    let age = queues.compactMap(\.oldestAgeSeconds).max()
    let isLate = queues.contains { QueuesPage.isLate($0) }
    figures.append(
      Figure(
        "Waiting", DisplayFormat.count(waiting), note: age.map { "the oldest for \(DisplayFormat.age(seconds: $0))" } ?? "nothing waits",
        style: isLate ? "warn" : "good", href: href(.queues)))
    figures.append(
      Figure(
        "Dead letters", DisplayFormat.count(dead), note: dead > 0 ? "stored until you replay or delete them" : "no message failed for good",
        style: dead > 0 ? "bad" : "good",
        href: href(.deadLetters)))
    for queue in queues {
      if queue.paused == true {
        concern("warn", "The queue \(queue.name) is paused: new messages are accepted and wait.", .queues)
      } else if QueuesPage.isLate(queue) {
        concern(
          "warn",
          "The oldest message in the queue \(queue.name) has waited for \(DisplayFormat.age(seconds: queue.oldestAgeSeconds ?? 0)).",
          .queues)
      }
      if let dead = queue.dead, dead > 0 {
        concern("bad", "\(DisplayFormat.plural(dead, "dead letter", "dead letters")) in the queue \(queue.name).", .deadLetters)
      }
    }
  }

  private static func add(
    _ subscriptions: [Subscription], _ figures: inout [Figure], _ href: (ConsolePage) -> String,
    _ concern: (String, String, ConsolePage) -> Void
  ) {
    let backlog = subscriptions.compactMap(\.backlog).max() ?? 0
    let age = subscriptions.compactMap(\.oldestUnacknowledgedAgeSeconds).max()
    figures.append(
      Figure(
        "Feed backlog", DisplayFormat.count(backlog),
        note: subscriptions.isEmpty
          ? "no subscription yet"
          : age.map { "the oldest event waits for \(DisplayFormat.age(seconds: $0))" } ?? "no subscription has a backlog",
        style: subscriptions.contains(where: FeedPage.isLate) ? "warn" : "", href: href(.subscriptions)))
    for one in subscriptions {
      if let status = one.endpointStatus, status.state != "enabled" {
        concern("bad", "No events are pushed to the endpoint of \(one.name), because its state is \(status.state).", .subscriptions)
      } else if let since = one.endpointStatus?.failingSince {
        concern("warn", "The endpoint of \(one.name) has accepted no event since \(DisplayFormat.time(since)).", .subscriptions)
      } else if FeedPage.isLate(one) {
        let age = DisplayFormat.age(seconds: one.oldestUnacknowledgedAgeSeconds ?? 0)
        concern("warn", "\(one.name) is late: its oldest event has waited for \(age).", .subscriptions)
      }
      if let dropped = one.dropped, dropped > 0 {
        concern(
          "bad", "\(one.name) has lost \(DisplayFormat.plural(dropped, "event", "events")), because they were not acknowledged in time.",
          .subscriptions)
      }
    }
  }
}
