import ArgumentParser
import AttributionProtocol

struct QueuesCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "queues", abstract: "Show depth, age and dead letters of the queues; pause and resume a queue.",
    discussion: """
      Examples:
        attributionctl queues
        attributionctl queues pause intake --dry-run
        attributionctl queues --output json
      """, subcommands: [List.self, Pause.self, Resume.self, Store.self], defaultSubcommand: List.self)

  static let names = ["intake", "tokens", "sessions", "gaps", "migrations", "reports"]

  /// The name of a queue.
  struct Name: ExpressibleByArgument, Sendable {
    let text: String

    init?(argument: String) {
      guard QueuesCommand.names.contains(argument) else { return nil }
      text = argument
    }

    static var allValueStrings: [String] { QueuesCommand.names }
    static var defaultCompletionKind: CompletionKind { .list(QueuesCommand.names) }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List all queues, or show one (the default).",
      discussion: "Example: attributionctl queues list intake")

    @Argument(help: "Only this queue.") var queue: Name?
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let response = try await connection.ask(.verifier) { () throws(RPCError) in
        try await connection.queues.listQueues(ListQueuesRequest(queue: queue?.text))
      }
      try connection.printer.show(response) { QueuesCommand.table(response.queues) }
    }
  }

  struct Pause: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "pause", abstract: "Pause the workers of a queue; new messages are still accepted.",
      discussion: "Example: attributionctl queues pause intake")

    @Argument(help: "The queue.") var queue: Name
    @Flag(help: "Only show what would be done.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      guard !dryRun else { return try await QueuesCommand.printDryRun(connection, queue.text, "would be paused") }
      let response = try await connection.ask(.verifier) { () throws(RPCError) in
        try await connection.queues.pauseQueue(PauseQueueRequest(queue: queue.text))
      }
      try connection.printer.show(response) { QueuesCommand.table(response.queue.map { [$0] } ?? []) }
    }
  }

  struct Resume: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "resume", abstract: "Resume the workers of a queue.", discussion: "Example: attributionctl queues resume intake")

    @Argument(help: "The queue.") var queue: Name
    @Flag(help: "Only show what would be done.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      guard !dryRun else { return try await QueuesCommand.printDryRun(connection, queue.text, "would be resumed") }
      let response = try await connection.ask(.verifier) { () throws(RPCError) in
        try await connection.queues.resumeQueue(ResumeQueueRequest(queue: queue.text))
      }
      try connection.printer.show(response) { QueuesCommand.table(response.queue.map { [$0] } ?? []) }
    }
  }

  struct Store: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "store", abstract: "Show the form of the data in Redis and the workers that do not know the newest form.",
      discussion: "Example: attributionctl queues store")

    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let response = try await connection.ask(.verifier) { () throws(RPCError) in try await connection.queues.getStoreForm() }
      let store = response.store ?? StoreState()
      try connection.printer.show(response) {
        var record = Record()
        record.add("form", "\(store.form) (the newest is \(store.newestForm))")
        record.add("shards in another form", "\(store.shardsBehind ?? 0)")
        for worker in store.outdatedWorkers {
          record.add(
            "outdated worker", "\(worker.name) of \(worker.queue), knows form \(worker.form), idle \(TerminalText.age(worker.idleSeconds))"
          )
        }
        return record
      }
    }
  }

  static func table(_ queues: [QueueState]) -> Table {
    var table = Table([
      "queue", Table.Column("ready", isNumber: true), Table.Column("in flight", isNumber: true), Table.Column("delayed", isNumber: true),
      Table.Column("dead", isNumber: true), Table.Column("oldest", isNumber: true), "state",
    ])
    for queue in queues {
      let dead = queue.dead ?? 0
      table.add(
        Cell(queue.name), Cell("\(queue.depth ?? 0)"), Cell("\(queue.inFlight ?? 0)"), Cell("\(queue.delayed ?? 0)"),
        Cell("\(dead)", dead > 0 ? .bad : .plain), Cell(TerminalText.age(queue.oldestAgeSeconds)),
        queue.paused == true ? Cell("paused", .warning) : Cell("working", .good))
    }
    return table
  }

  private static func printDryRun(_ connection: Connection, _ queue: String, _ action: String) async throws {
    // A dry run also makes a call, so that it finds a wrong token or an unreachable service.
    _ = try await connection.ask(.verifier) { () throws(RPCError) in
      try await connection.queues.listQueues(ListQueuesRequest(queue: queue))
    }
    try connection.printer.show(["dryRun": true, "queue": .string(queue)]) { Record([("dry run", Cell("\(queue) \(action)"))]) }
  }
}
