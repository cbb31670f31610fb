import ArgumentParser
import AttributionProtocol
import Cryptography
import ServiceRuntime
import WireJSON

struct DeadLettersCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dead-letters", abstract: "Show, replay and purge dead letters: messages that failed permanently.",
    discussion: """
      Examples:
        attributionctl dead-letters list --queue intake
        attributionctl dead-letters show 017-0a1b2c3d4e5f60718293a4b5c6d7e8f9
        attributionctl dead-letters replay --queue intake --error timeout --dry-run
        attributionctl dead-letters purge 017-0a1b2c3d4e5f60718293a4b5c6d7e8f9
      """, subcommands: [List.self, Show.self, Replay.self, Purge.self], defaultSubcommand: List.self)

  /// Options that select dead letters.
  struct Selection: ParsableArguments {
    @Option(help: "Only dead letters of this queue.") var queue: QueuesCommand.Name?
    @Option(help: "Only dead letters of this kind, such as notification.") var kind: String?
    @Option(help: "Only dead letters whose last error contains this text.") var error: String?

    var hasFilter: Bool { kind != nil || error != nil }

    /// True if the dead letter has the selected kind and error. The queue is selected by the service.
    func matches(_ letter: DeadLetter) -> Bool {
      (kind.map { letter.kind == $0 } ?? true) && (error.map { letter.lastError.lowercased().contains($0.lowercased()) } ?? true)
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List dead letters with their last error (the default).",
      discussion: "Example: attributionctl dead-letters list --queue tokens --limit 20")

    @OptionGroup var selection: Selection
    @Option(help: "Number of dead letters to search, 1 to 1000.") var limit: Int32 = 100
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func validate() throws { guard (1...1000).contains(limit) else { throw ValidationError("--limit must be 1 to 1000.") } }

    func run() async throws {
      let connection = try Connection(options)
      var response = try await connection.ask(.verifier) { () throws(RPCError) in
        try await connection.queues.listDeadLetters(ListDeadLettersRequest(queue: selection.queue?.text, maxLetters: limit))
      }
      let seen = response.deadLetters.count
      response.deadLetters.removeAll { !selection.matches($0) }
      try connection.printer.show(response, none: "There are no matching dead letters.") { DeadLettersCommand.table(response.deadLetters) }
      if seen == Int(limit) { connection.printer.note("Only the first \(seen) were searched; raise --limit to search more.") }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Show a dead letter with its history and its body.",
      discussion: """
        Examples:
          attributionctl dead-letters show 017-0a1b2c3d4e5f60718293a4b5c6d7e8f9
          attributionctl dead-letters show 017-0a1b2c3d4e5f60718293a4b5c6d7e8f9 --body > body.json
        """)

    @Argument(help: "The delivery's id.") var id: String
    @Flag(help: "Write only the body, as it was received.") var body = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let response = try await connection.ask(.verifier) { () throws(RPCError) in
        try await connection.queues.getDeadLetter(GetDeadLetterRequest(id: id))
      }
      let bytes = response.body.flatMap { Base64.decode($0) }
      if body {
        guard let bytes else { throw CommandFailure(.notFound, "the dead letter has no readable body") }
        return try StandardOutput.write(bytes)
      }
      let letter = response.deadLetter ?? DeadLetter()
      try connection.printer.show(response) {
        var record = Record()
        record.add("id", letter.id)
        record.add("queue", letter.queue)
        record.add("kind", letter.kind)
        record.add("source", response.source)
        record.add("received", letter.receivedAt?.text)
        record.add("died", letter.diedAt?.text)
        record.add("attempts", "\(letter.attempts ?? 0)")
        record.add("last error", letter.lastError, .bad)
        for line in letter.history { record.add("history", Self.line(line)) }
        for member in response.attributes?.members ?? [] { record.add(member.key, member.value.stringValue) }
        record.add("trace", response.traceparent)
        record.add("request", response.requestId)
        record.add("body", bytes.map { TerminalText.count(Int64($0.count), "byte") + "; use --body to write it" } ?? "cannot be read")
        return record
      }
    }

    /// Formats a line of a dead letter's history. It begins with its time in milliseconds since 1970.
    static func line(_ line: String) -> String {
      let parts = line.split(separator: " ", maxSplits: 1)
      guard parts.count == 2, let time = Int64(parts[0]) else { return line }
      return Timestamp(millisecondsSince1970: time).text + " " + parts[1]
    }
  }

  struct Replay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "replay",
      abstract: "Return dead letters to their queue, to be processed again. They keep their ids and idempotency keys.",
      discussion: """
        Select dead letters by their ids, by --queue with --kind or --error, or by --queue with --all. A message that becomes a dead \
        letter again while the command runs is not replayed a second time.

        Examples:
          attributionctl dead-letters replay 017-0a1b2c3d4e5f60718293a4b5c6d7e8f9
          attributionctl dead-letters replay --queue intake --all --dry-run
        """)

    @OptionGroup var change: Change

    func validate() throws { try change.check() }

    func run() async throws {
      try await change.run(verb: "replayed") { (connection, queue, ids) throws(CommandFailure) in
        try await connection.ask(.verifier) { () throws(RPCError) in
          try await connection.queues.replayDeadLetters(ReplayDeadLettersRequest(queue: queue, ids: ids)).replayed ?? 0
        }
      }
    }
  }

  struct Purge: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "purge", abstract: "Delete dead letters permanently.",
      discussion: """
        On a terminal, the command asks for confirmation. Without a terminal, it requires --yes.

        Examples:
          attributionctl dead-letters purge 017-0a1b2c3d4e5f60718293a4b5c6d7e8f9
          attributionctl dead-letters purge --queue sessions --all --yes
        """)

    @OptionGroup var change: Change
    @Flag(help: "Do not ask for confirmation.") var yes = false

    func validate() throws { try change.check() }

    func run() async throws {
      if !yes, !change.dryRun { try Confirmation.ask("Deleted dead letters cannot be restored. Delete them?") }
      try await change.run(verb: "purged") { (connection, queue, ids) throws(CommandFailure) in
        try await connection.ask(.verifier) { () throws(RPCError) in
          try await connection.queues.purgeDeadLetters(PurgeDeadLettersRequest(queue: queue, ids: ids)).purged ?? 0
        }
      }
    }
  }

  /// The common part of replay and purge: selects dead letters and changes them page by page.
  struct Change: ParsableArguments {
    @Argument(help: "Ids of deliveries.") var ids: [String] = []
    @OptionGroup var selection: Selection
    @Flag(help: "Select all dead letters of the queue.") var all = false
    @Flag(help: "Only show which dead letters would be changed.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    private static let maxIdsPerCall = 500

    /// Refuses arguments that select nothing, or in two ways.
    func check() throws {
      if ids.isEmpty {
        guard selection.queue != nil else { throw ValidationError("Ids or --queue are required.") }
        guard all || selection.hasFilter else { throw ValidationError("Ids, --kind, --error or --all are required.") }
      } else if all || selection.hasFilter {
        throw ValidationError("Ids cannot be combined with --all, --kind or --error.")
      }
    }

    /// Replays or purges the dead letters with these ids. Returns their number.
    typealias ChangeCall = (_ connection: Connection, _ queue: String, _ ids: [String]) async throws(CommandFailure) -> Int32

    func run(verb: String, _ call: ChangeCall) async throws {
      let connection = try Connection(options)
      guard !dryRun else {
        var found = ids.isEmpty ? [] : try await deadLettersByID(connection)
        if ids.isEmpty { try await forEachPage(connection) { letters, _ in found += letters } }
        return try connection.printer.show(
          ["dryRun": true, "deadLetters": .array(try found.map { try Printer.value($0) })], none: "There are no matching dead letters."
        ) { DeadLettersCommand.table(found) }
      }
      var changed: Int64 = 0
      if ids.isEmpty {
        var line = ProgressLine(unit: "dead letters", total: Double(try await deadLetterCount(connection)))
        defer { line.end() }
        try await forEachPage(connection) { letters, read in
          changed += try await carryOut(call, on: letters, connection)
          line.advance(to: Double(read))
        }
      } else {
        changed = try await carryOut(call, on: try await deadLettersByID(connection), connection)
      }
      try connection.printer.show([verb: .integer(changed)]) { Record([(verb, Cell(TerminalText.count(changed, "dead letter")))]) }
    }

    /// Calls the method for the dead letters of each queue, in groups. Returns the number of changed dead letters.
    private func carryOut(_ call: ChangeCall, on letters: [DeadLetter], _ connection: Connection) async throws(CommandFailure) -> Int64 {
      var changed: Int64 = 0
      for queue in Set(letters.map(\.queue)).sorted() {
        let ids = letters.filter { $0.queue == queue }.map(\.id)
        for start in stride(from: 0, to: ids.count, by: Self.maxIdsPerCall) {
          changed += Int64(try await call(connection, queue, Array(ids[start..<min(ids.count, start + Self.maxIdsPerCall)])))
        }
      }
      return changed
    }

    /// The dead letters that the arguments name.
    private func deadLettersByID(_ connection: Connection) async throws(CommandFailure) -> [DeadLetter] {
      var letters: [DeadLetter] = []
      for id in ids {
        let response = try await connection.ask(.verifier) { () throws(RPCError) in
          try await connection.queues.getDeadLetter(GetDeadLetterRequest(id: id, queue: selection.queue?.text))
        }
        if let letter = response.deadLetter { letters.append(letter) }
      }
      return letters
    }

    /// Passes the selected dead letters to `work` page by page, with the number that has been read so far. A replayed message that fails
    /// again is appended to the list that is being read. It is recognised by its id and not passed again, so that the command ends.
    private func forEachPage(_ connection: Connection, _ work: (_ letters: [DeadLetter], _ read: Int) async throws -> Void) async throws {
      var seen: Set<String> = []
      var token: String?
      repeat {
        let response = try await connection.ask(.verifier) { [token] () throws(RPCError) in
          try await connection.queues.listDeadLetters(
            ListDeadLettersRequest(queue: selection.queue?.text, maxLetters: 1000, pageToken: token))
        }
        let letters = response.deadLetters.filter { seen.insert($0.id).inserted }
        try await work(letters.filter(selection.matches), seen.count)
        token = response.nextPageToken
      } while token != nil
    }

    /// The current number of dead letters in the queue.
    private func deadLetterCount(_ connection: Connection) async throws(CommandFailure) -> Int64 {
      let response = try await connection.ask(.verifier) { () throws(RPCError) in
        try await connection.queues.listQueues(ListQueuesRequest(queue: selection.queue?.text))
      }
      return response.queues.first?.dead ?? 0
    }
  }

  static func table(_ letters: [DeadLetter]) -> Table {
    var table = Table(["id", "queue", "kind", Table.Column("attempts", isNumber: true), "died", "last error"])
    for letter in letters {
      table.add(
        Cell(letter.id), Cell(letter.queue), Cell(letter.kind), Cell("\(letter.attempts ?? 0)"), Cell(letter.diedAt?.text),
        Cell(letter.lastError, .bad))
    }
    return table
  }
}

/// Asks the user for confirmation before a change that cannot be undone.
enum Confirmation {
  static func ask(_ question: String) throws {
    guard Terminal.isInteractive else {
      throw CommandFailure(.usage, "standard input is not a terminal, so nobody can confirm; use --yes")
    }
    StandardError.write("\(question) [y/N] ")
    let typed = readLine()?.lowercased() ?? ""
    guard typed == "y" || typed == "yes" else { throw CommandFailure(.interrupted, "nothing was done") }
  }
}
