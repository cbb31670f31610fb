import AttributionProtocol
import AttributionQueue

/// The list of dead letters, of one queue or of all, page by page.
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
  /// The link to the next page; empty on the last page.
  let next: String
  let hasNext: Bool
  /// The link to the first page.
  let first: String
  /// True on all pages but the first.
  let isLater: Bool

  init(_ layout: Layout, _ reader: ConsoleReader, _ fields: FormFields, now: Int64) async {
    self.layout = layout
    let queue = fields["queue"].flatMap(QueueName.init)
    let path = layout.base + ConsolePage.deadLetters.path
    queues =
      [Layout.Link(title: "All queues", href: path, isCurrent: queue == nil)]
      + QueueName.allCases.map { Layout.Link(title: $0.rawValue, href: "\(path)?queue=\($0.rawValue)", isCurrent: $0 == queue) }
    let result = await reader.verifier(
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
    /// The time since the previous step; empty if it is less than a second.
    let later: String
    let hasLater: Bool
  }

  let layout: Layout
  /// The link to the list.
  let back: String
  let notice: Notice?
  /// False also if the query failed.
  let isFound: Bool
  let isMissing: Bool
  let id: String
  let queue: String
  let kind: String
  let attempts: String
  /// The time from the receipt of the message until it became a dead letter.
  let lifetime: String
  let steps: [Step]

  init(_ layout: Layout, _ reader: ConsoleReader, queue: QueueName, id: DeliveryID, now: Int64) async {
    self.layout = layout
    back = "\(layout.base)\(ConsolePage.deadLetters.path)?queue=\(queue.rawValue)"
    let result = await reader.verifier(
      QueuesService.GetDeadLetter.self, GetDeadLetterRequest(id: id.description, queue: queue.rawValue))
    isMissing = result.notice?.isNotFound == true
    notice = isMissing ? nil : result.notice
    self.id = id.description
    self.queue = queue.rawValue
    let letter = result.value?.deadLetter
    isFound = letter != nil
    guard let letter else {
      (kind, attempts, lifetime, steps) = ("", "", "", [])
      return
    }
    kind = DisplayNames.kind(letter.kind)
    attempts = DisplayFormat.count(Int64(letter.attempts ?? 0))
    if let received = letter.receivedAt, let died = letter.diedAt {
      lifetime = DisplayFormat.age(seconds: Double(died.millisecondsSince1970 - received.millisecondsSince1970) / 1000)
    } else {
      lifetime = "–"
    }
    steps = Self.story(letter, now: now)
  }

  /// The receipt of the message, its failed attempts, and the last failure.
  static func story(_ letter: AttributionProtocol.DeadLetter, now: Int64) -> [Step] {
    var steps: [Step] = []
    var previous: Int64?
    func add(_ style: String, _ title: String, _ text: String, _ time: Timestamp?) {
      var later = ""
      if let previous, let time {
        let seconds = Double(time.millisecondsSince1970 - previous) / 1000
        if seconds >= 1 { later = DisplayFormat.age(seconds: seconds) + " later" }
      }
      previous = time?.millisecondsSince1970 ?? previous
      steps.append(Step(style: style, title: title, text: text, time: Moment(time, now: now), later: later, hasLater: !later.isEmpty))
    }
    add(
      "good", "Received",
      DisplayNames.externalKinds.contains(letter.kind)
        ? "Accepted from its sender and stored in the queue." : "Added to the queue by one of the services.",
      letter.receivedAt)
    // A line is a time in milliseconds since 1970, a space and the error.
    let lines = letter.history.map { line -> (Timestamp?, String) in
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, let time = Int64(parts[0]) else { return (nil, line) }
      return (Timestamp(millisecondsSince1970: time), String(parts[1]))
    }
    // If the last line is the final failure, it is shown only as the last step.
    for (index, line) in lines.enumerated() where index < lines.count - 1 || line.1 != letter.lastError {
      add("warn", "Failed", Redaction.text(line.1), line.0)
    }
    add("bad", "Given up", Redaction.text(letter.lastError), letter.diedAt)
    return steps
  }
}
