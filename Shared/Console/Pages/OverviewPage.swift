import AttributionProtocol

/// The overview: shows whether everything is in order.
struct OverviewPage {
  /// A problem that needs attention.
  struct Concern {
    /// `bad` or `warn`.
    let style: String
    let word: String
    let text: String
    let href: String
  }

  let layout: Layout
  let figures: [Figure]
  let concerns: [Concern]
  let isFine: Bool
  let plot: Plot?
  let notice: Notice?
  let silent: [Notice]

  init(_ layout: Layout, _ reader: ConsoleReader) async {
    self.layout = layout
    async let countsResult = reader.here(VerifierService.GetDeliveryCounts.self, TimeRange.hour.request)
    async let queuesResult = reader.here(QueuesService.ListQueues.self, ListQueuesRequest())
    async let subscriptionsResult = reader.here(EventsService.ListSubscriptions.self, ListSubscriptionsRequest())
    async let gapsResult = reader.gaps(state: "suspected", limit: 1000)
    async let keysResult = reader.signer(SignerService.ListSigningKeys.self, ListSigningKeysRequest())
    let (counts, queues, subscriptions, gaps, keys) = await (countsResult, queuesResult, subscriptionsResult, gapsResult, keysResult)
    func href(_ page: ConsolePage) -> String { layout.base + page.path }
    var figures: [Figure] = []
    var concerns: [Concern] = []
    func concern(_ style: String, _ text: String, _ page: ConsolePage) {
      concerns.append(Concern(style: style, word: style == "bad" ? "Act" : "Look", text: text, href: href(page)))
    }
    var plot: Plot?
    if let counts = counts.value {
      let plots = DeliveryPlots(counts, .hour)
      plot = plots.plot(id: "last-hour", title: "Deliveries in the last hour")
      let (all, rejected) = (plots.total(), plots.total(verdict: "rejected"))
      figures.append(Figure("Deliveries", DisplayFormat.count(all), note: "in the last hour", href: href(.deliveries)))
      let isMuch = rejected >= 20 && rejected * 2 > all
      figures.append(
        Figure(
          "Rejected", DisplayFormat.share(rejected, of: all), note: DisplayFormat.plural(rejected, "delivery", "deliveries"),
          style: isMuch ? "warn" : "",
          href: href(.deliveries)))
      if isMuch {
        concern(
          "warn", "More than half of what came in the last hour was rejected. The reasons tell forgeries from faults of ours.", .deliveries)
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
      let stuck = found.gaps.filter { $0.lastError != nil }
      if !stuck.isEmpty {
        concern("warn", "\(DisplayFormat.plural(Int64(stuck.count), "gap", "gaps")) could not be looked up at Apple yet.", .appStore)
      }
    }
    for owner in (keys.value.map { KeysPage.owners($0.keys) } ?? []) where !owner.signs {
      concern("bad", "\(owner.name) has no active key for \(owner.use): nothing can be signed for it.", .keys)
    }
    self.plot = plot
    self.figures = figures
    self.concerns = concerns.sorted { ($0.style == "bad" ? 0 : 1) < ($1.style == "bad" ? 0 : 1) }
    notice = counts.notice
    // Each service that does not answer is reported once. What this reader may not see is left out.
    var seen: Set<Notice> = []
    silent = [queues.notice, subscriptions.notice, gaps.notice, keys.notice].compactMap { $0 }.filter { seen.insert($0).inserted }
    isFine = concerns.isEmpty && !silent.contains { $0.style == "bad" } && notice?.style != "bad"
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
        "Dead letters", DisplayFormat.count(dead), note: dead > 0 ? "given up, kept for you" : "none given up",
        style: dead > 0 ? "bad" : "good",
        href: href(.deadLetters)))
    for queue in queues {
      if queue.paused == true {
        concern("warn", "The queue \(queue.name) is paused: what comes in is kept and waits.", .queues)
      } else if QueuesPage.isLate(queue) {
        concern(
          "warn",
          "In the queue \(queue.name) the oldest delivery has waited for \(DisplayFormat.age(seconds: queue.oldestAgeSeconds ?? 0)).",
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
          ? "no subscription yet" : age.map { "of the slowest reader, for \(DisplayFormat.age(seconds: $0))" } ?? "all readers keep up",
        style: subscriptions.contains(where: FeedPage.isBehind) ? "warn" : "", href: href(.subscriptions)))
    for one in subscriptions {
      if let status = one.endpointStatus, status.state != "enabled" {
        concern("bad", "Nothing is pushed to the endpoint of \(one.name): it is \(status.state).", .subscriptions)
      } else if let since = one.endpointStatus?.failingSince {
        concern("warn", "The endpoint of \(one.name) has taken nothing since \(DisplayFormat.time(since)).", .subscriptions)
      } else if FeedPage.isBehind(one) {
        concern(
          "warn",
          "\(one.name) is behind: its oldest event has waited for \(DisplayFormat.age(seconds: one.oldestUnacknowledgedAgeSeconds ?? 0)).",
          .subscriptions)
      }
      if let dropped = one.dropped, dropped > 0 {
        concern(
          "bad", "\(one.name) has lost \(DisplayFormat.plural(dropped, "event", "events")) that it did not take in time.", .subscriptions)
      }
    }
  }
}
