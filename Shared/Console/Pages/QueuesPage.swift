import AttributionProtocol

/// The queues: the number of waiting messages and the age of the oldest, now and over the last hour.
struct QueuesPage {
  struct Row {
    let name: String
    /// What the queue contains, and which service processes it.
    let content: String
    let depth, inFlight, delayed, dead: String
    let hasDead: Bool
    let age: String
    let state: String
    let style: String
    let deadHref: String
  }

  /// A queue is late if its oldest ready message has waited for longer, seconds.
  private static let lateSeconds = 60.0

  let layout: Layout
  let notice: Notice?
  let rows: [Row]
  let figures: [Figure]
  let plots: [Plot]
  let historyNotice: Notice?

  init(_ layout: Layout, _ reader: ConsoleReader, now: Int64) async {
    self.layout = layout
    async let historyResult = reader.verifier(QueuesService.GetQueueHistory.self, GetQueueHistoryRequest(minutes: 60))
    async let queuesResult = reader.verifier(QueuesService.ListQueues.self, ListQueuesRequest())
    let (result, history) = await (queuesResult, historyResult)
    historyNotice = history.notice
    plots = history.value.map { Self.plots($0.moments, now: now) } ?? []
    notice = result.notice
    let queues = result.value?.queues ?? []
    rows = queues.map { queue in
      let isLate = Self.isLate(queue)
      let state = queue.paused == true ? "paused" : isLate ? "late" : (queue.depth ?? 0) > 0 ? "working" : "idle"
      return Row(
        name: queue.name, content: DisplayNames.queue(queue.name), depth: DisplayFormat.count(queue.depth ?? 0),
        inFlight: DisplayFormat.count(queue.inFlight ?? 0),
        delayed: DisplayFormat.count(queue.delayed ?? 0), dead: DisplayFormat.count(queue.dead ?? 0), hasDead: (queue.dead ?? 0) > 0,
        age: queue.oldestAgeSeconds.map { DisplayFormat.age(seconds: $0) } ?? "–", state: state,
        style: queue.paused == true || isLate ? "warn" : "good",
        deadHref: "\(layout.base)\(ConsolePage.deadLetters.path)?queue=\(FormFields.encoded(queue.name))")
    }
    func sum(_ part: (QueueState) -> Int64?) -> Int64 { queues.reduce(0) { $0 + (part($1) ?? 0) } }
    let age = queues.compactMap(\.oldestAgeSeconds).max()
    figures =
      queues.isEmpty
      ? []
      : [
        Figure("Ready", DisplayFormat.count(sum(\.depth)), note: "can be processed now"),
        Figure(
          "Oldest", age.map { DisplayFormat.age(seconds: $0) } ?? "–", note: "waiting time of the oldest message",
          style: queues.contains(where: Self.isLate) ? "warn" : ""),
        Figure("Delayed", DisplayFormat.count(sum(\.delayed)), note: "due later, or waiting for others"),
        Figure(
          "Dead letters", DisplayFormat.count(sum(\.dead)), style: sum(\.dead) > 0 ? "bad" : "",
          href: layout.base + ConsolePage.deadLetters.path),
      ]
  }

  /// For each minute of the last hour, the number of ready messages and the age of the oldest: for intake, and for other queues that had
  /// ready messages.
  private static func plots(_ moments: [QueueMoment], now: Int64) -> [Plot] {
    let newest = now / 60_000
    let minutes = (newest - 59...newest).map { Timestamp(millisecondsSince1970: $0 * 60_000) }
    let names = minutes.map(DisplayFormat.clock)
    let labels = [names[0], names[30], names[59]]
    let known = Set(moments.flatMap { $0.queues.filter { ($0.depth ?? 0) > 0 }.map(\.name) }).subtracting(["intake"]).sorted()
    return (["intake"] + known).flatMap { queue in
      var ready = [Int64](repeating: 0, count: minutes.count)
      var age = ready
      for moment in moments {
        let index = Int((moment.start?.millisecondsSince1970 ?? 0) / 60_000 - newest) + 59
        guard ready.indices.contains(index), let state = moment.queues.first(where: { $0.name == queue }) else { continue }
        ready[index] = state.depth ?? 0
        age[index] = Int64(state.oldestAgeSeconds ?? 0)
      }
      return [
        Plot(
          id: "ready-\(queue)", title: "\(queue): ready", unit: "Messages, measured once a minute", names: names, labels: labels,
          series: [Plot.Series(name: "now", style: "s-verified", values: ready)], isLevel: true, empty: "No messages waited."),
        Plot(
          id: "age-\(queue)", title: "\(queue): age of the oldest", unit: "Seconds, measured once a minute", names: names, labels: labels,
          series: [Plot.Series(name: "s now", style: "s-done", values: age)], isLevel: true, empty: "No messages waited."),
      ]
    }
  }

  /// True if the oldest ready message has waited for too long.
  static func isLate(_ queue: QueueState) -> Bool { (queue.oldestAgeSeconds ?? 0) > lateSeconds }
}
