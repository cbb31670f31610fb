import AttributionProtocol

/// How much waits where, and for how long.
struct QueuesPage {
  struct Row {
    let name: String
    let what: String
    let depth, inFlight, delayed, dead: String
    let hasDead: Bool
    let age: String
    let state: String
    let style: String
    let deadHref: String
  }

  /// What has waited longer than this is told of.
  private static let lateSeconds = 60.0

  let layout: Layout
  let notice: Notice?
  let rows: [Row]
  let figures: [Figure]

  init(_ layout: Layout, _ reader: ConsoleReader) async {
    self.layout = layout
    let answer = await reader.here(QueuesService.ListQueues.self, ListQueuesRequest())
    notice = answer.notice
    let queues = answer.value?.queues ?? []
    rows = queues.map { queue in
      let isLate = Self.isLate(queue)
      let state = queue.paused == true ? "paused" : isLate ? "behind" : (queue.depth ?? 0) > 0 ? "working" : "idle"
      return Row(
        name: queue.name, what: Words.queue(queue.name), depth: Figures.count(queue.depth ?? 0),
        inFlight: Figures.count(queue.inFlight ?? 0),
        delayed: Figures.count(queue.delayed ?? 0), dead: Figures.count(queue.dead ?? 0), hasDead: (queue.dead ?? 0) > 0,
        age: queue.oldestAgeSeconds.map { Figures.age(seconds: $0) } ?? "–", state: state,
        style: queue.paused == true || isLate ? "warn" : "good",
        deadHref: "\(layout.base)\(ConsolePage.deadLetters.path)?queue=\(FormFields.encoded(queue.name))")
    }
    func sum(_ part: (QueueState) -> Int64?) -> Int64 { queues.reduce(0) { $0 + (part($1) ?? 0) } }
    let age = queues.compactMap(\.oldestAgeSeconds).max()
    figures =
      queues.isEmpty
      ? []
      : [
        Figure("Ready", Figures.count(sum(\.depth)), note: "to be worked now"),
        Figure(
          "Oldest", age.map { Figures.age(seconds: $0) } ?? "–", note: "time that it has waited",
          style: queues.contains(where: Self.isLate) ? "warn" : ""),
        Figure("Delayed", Figures.count(sum(\.delayed)), note: "due later, or behind others"),
        Figure(
          "Dead letters", Figures.count(sum(\.dead)), style: sum(\.dead) > 0 ? "bad" : "", href: layout.base + ConsolePage.deadLetters.path),
      ]
  }

  /// Whether something has been ready for too long.
  static func isLate(_ queue: QueueState) -> Bool { (queue.oldestAgeSeconds ?? 0) > lateSeconds }
}
