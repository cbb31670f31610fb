import AttributionProtocol
import AttributionQueue

/// The dead letters.
struct DeadLettersPage {
  struct Row {
    let id: String
    let href: String
    let queue: String
    let kind: String
    let attempts: String
    let diedAt: Moment?
    let error: String
  }

  /// The number of dead letters on a page.
  private static let maxLetters = 200

  let layout: Layout
  let notice: Notice?
  let queues: [Layout.Link]
  let rows: [Row]
  let isEmpty: Bool
  /// The link to the next page; empty at the end.
  let next: String
  let hasNext: Bool
  let first: String
  let isLater: Bool

  init(_ layout: Layout, _ reader: ConsoleReader, _ fields: FormFields, now: Int64) async {
    self.layout = layout
    let queue = fields["queue"].flatMap(QueueName.init)
    let path = layout.base + ConsolePage.deadLetters.path
    queues =
      [Layout.Link(title: "All queues", href: path, isCurrent: queue == nil)]
      + QueueName.allCases.map { Layout.Link(title: $0.rawValue, href: "\(path)?queue=\($0.rawValue)", isCurrent: $0 == queue) }
    let result = await reader.here(
      QueuesService.ListDeadLetters.self,
      ListDeadLettersRequest(queue: queue?.rawValue, maxLetters: Int32(Self.maxLetters), pageToken: fields["after"]))
    notice = result.notice
    let letters = result.value?.deadLetters ?? []
    rows = letters.sorted { ($0.diedAt?.seconds ?? 0) > ($1.diedAt?.seconds ?? 0) }.map { letter in
      Row(
        id: letter.id, href: "\(path)/\(FormFields.encoded(letter.queue))/\(FormFields.encoded(letter.id))", queue: letter.queue,
        kind: DisplayNames.kind(letter.kind), attempts: DisplayFormat.count(Int64(letter.attempts ?? 0)),
        diedAt: Moment(letter.diedAt, now: now),
        error: Redaction.text(letter.lastError))
    }
    isEmpty = rows.isEmpty && result.value != nil
    let first = path + (queue.map { "?queue=\($0.rawValue)" } ?? "")
    let next = result.value?.nextPageToken.map { first + (queue == nil ? "?" : "&") + "after=" + FormFields.encoded($0) } ?? ""
    self.first = first
    self.next = next
    isLater = fields["after"] != nil
    hasNext = !next.isEmpty
  }
}

/// The history of one dead letter.
struct DeadLetterPage {
  struct Step {
    let style: String
    let title: String
    let text: String
    let time: Moment?
    /// The time since the previous step.
    let later: String
    let hasLater: Bool
  }

  let layout: Layout
  let back: String
  let notice: Notice?
  let isFound: Bool
  let isMissing: Bool
  let id: String
  let queue: String
  let kind: String
  let attempts: String
  let life: String
  let steps: [Step]

  init(_ layout: Layout, _ reader: ConsoleReader, queue: QueueName, id: DeliveryID, now: Int64) async {
    self.layout = layout
    back = "\(layout.base)\(ConsolePage.deadLetters.path)?queue=\(queue.rawValue)"
    let result = await reader.here(
      QueuesService.GetDeadLetter.self, GetDeadLetterRequest(id: id.description, queue: queue.rawValue))
    isMissing = result.notice?.isAbsence == true
    notice = isMissing ? nil : result.notice
    self.id = id.description
    self.queue = queue.rawValue
    let letter = result.value?.deadLetter
    isFound = letter != nil
    guard let letter else {
      (kind, attempts, life, steps) = ("", "", "", [])
      return
    }
    kind = DisplayNames.kind(letter.kind)
    attempts = DisplayFormat.count(Int64(letter.attempts ?? 0))
    if let received = letter.receivedAt, let died = letter.diedAt {
      life = DisplayFormat.age(seconds: Double(died.millisecondsSince1970 - received.millisecondsSince1970) / 1000)
    } else {
      life = "–"
    }
    steps = Self.story(letter, now: now)
  }

  static func story(_ letter: AttributionProtocol.DeadLetter, now: Int64) -> [Step] {
    var steps: [Step] = []
    var before: Int64?
    func add(_ style: String, _ title: String, _ text: String, _ time: Timestamp?) {
      var later = ""
      if let before, let time {
        let seconds = Double(time.millisecondsSince1970 - before) / 1000
        if seconds >= 1 { later = DisplayFormat.age(seconds: seconds) + " later" }
      }
      before = time?.millisecondsSince1970 ?? before
      steps.append(Step(style: style, title: title, text: text, time: Moment(time, now: now), later: later, hasLater: !later.isEmpty))
    }
    add(
      "good", "Received",
      DisplayNames.fromOutside.contains(letter.kind) ? "Taken in, on disk, and answered 200." : "Left in the queue by another service.",
      letter.receivedAt)
    let lines = letter.history.map { line -> (Timestamp?, String) in
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, let time = Int64(parts[0]) else { return (nil, line) }
      return (Timestamp(millisecondsSince1970: time), String(parts[1]))
    }
    // The last line is the final failure.
    for (place, line) in lines.enumerated() where place < lines.count - 1 || line.1 != letter.lastError {
      add("warn", "Failed", Redaction.text(line.1), line.0)
    }
    add("bad", "Given up", Redaction.text(letter.lastError), letter.diedAt)
    return steps
  }
}
