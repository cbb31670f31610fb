import ArgumentParser
import AttributionClient
import AttributionProtocol

struct RecoverCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "recover", abstract: "Recover the missed notifications of a time range; show recoveries.",
    discussion: """
      Examples:
        attributionctl recover --bundle-id com.example.app --from 6h --wait
        attributionctl recover list
        attributionctl recover show 8d1c…
      """, subcommands: [Start.self, List.self, Show.self, Cancel.self], defaultSubcommand: Start.self)

  struct Start: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "start", abstract: "Start a recovery (the default).",
      discussion: """
        A notification that was received before is a duplicate and is not processed again. Apple stores notifications for 180 days in \
        production, and for 30 days in the sandbox.

        Examples:
          attributionctl recover start --bundle-id com.example.app --from 2026-11-20T08:00:00Z --to 2026-11-20T12:00:00Z --wait
          attributionctl recover start --bundle-id com.example.app --from 7d --only-failures --dry-run
        """)

    @Option(help: ArgumentHelp("The app's bundle id.", valueName: "id")) var bundleId: String
    @Option(help: "Production or Sandbox.", completion: .environments) var environment = "Production"
    @Option(help: ArgumentHelp("Start of the range: RFC 3339, or an age such as 6h.", valueName: "time")) var from: TimeArgument
    @Option(help: ArgumentHelp("End of the range, exclusive (default: now).", valueName: "time")) var to: TimeArgument?
    @Option(help: ArgumentHelp("Only notifications of this type.", valueName: "type")) var type: String?
    @Option(help: ArgumentHelp("Only notifications of this subtype.", valueName: "subtype")) var subtype: String?
    @Option(help: ArgumentHelp("Only notifications about this transaction.", valueName: "id")) var transactionId: String?
    @Flag(help: "Only notifications that Apple could not deliver.") var onlyFailures = false
    @Flag(help: "Wait until the recovery has ended.") var wait = false
    @Flag(help: "Only show what would be requested.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func validate() throws {
      guard ["Production", "Sandbox"].contains(environment) else { throw ValidationError("--environment must be Production or Sandbox.") }
      if let to, to.timestamp <= from.timestamp { throw ValidationError("--to must be later than --from.") }
    }

    func run() async throws {
      let connection = try Connection(options)
      let request = StartRecoveryRequest(
        bundleId: bundleId, environment: environment, startDate: from.timestamp,
        endDate: to?.timestamp ?? TimeArgument(argument: "now")?.timestamp,
        notificationType: type, notificationSubtype: subtype, transactionId: transactionId, onlyFailures: onlyFailures ? true : nil)
      guard !dryRun else {
        return try connection.printer.show(["dryRun": true, "request": try Printer.value(request)]) {
          var record = Record([("dry run", Cell("notifications of \(bundleId), \(environment), would be recovered"))])
          record.add("from", request.startDate?.text)
          record.add("to", request.endDate?.text)
          return record
        }
      }
      let response = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
        try await connection.client.recovery.startRecovery(request)
      }
      guard wait else { return try connection.printer.show(response) { Record([("recovery", Cell(response.recoveryId))]) } }
      connection.printer.note("recovery \(response.recoveryId)")
      try await Interruptible.run { try await RecoverCommand.follow(response.recoveryId, connection) }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "List recoveries, newest first.", discussion: "Example: attributionctl recover list --limit 20")

    @OptionGroup var list: JobListOptions
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let response = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
        try await connection.client.recovery.listRecoveries(ListRecoveriesRequest(bundleId: list.bundleId, maxRecoveries: list.limit))
      }
      try connection.printer.show(response, none: "There are no recoveries.") {
        var table = Table([
          "id", "state", Table.Column("done", isNumber: true), "app", "environment", "from", "to", Table.Column("fetched", isNumber: true),
          Table.Column("new", isNumber: true), "origin",
        ])
        for one in response.recoveries {
          table.add(
            Cell(one.recoveryId), Cell(one.state, TerminalText.state(one.state)), Cell("\(Int((one.progress ?? 0) * 100)) %"),
            Cell(one.bundleId),
            Cell(one.environment), Cell(one.startDate?.text), Cell(one.endDate?.text), Cell("\(one.fetched ?? 0)"),
            Cell("\(one.accepted ?? 0)"),
            Cell(one.origin))
        }
        return table
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Show a recovery: its progress, what it found, and why Apple could not deliver the notifications.",
      discussion: "Example: attributionctl recover show 8d1c2f --wait")

    @Argument(help: "The recovery's id.") var id: String
    @Flag(help: "Wait until the recovery has ended.") var wait = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let id = id
      guard wait else {
        let response = try await RecoverCommand.recovery(id, connection)
        return try connection.printer.show(response) { RecoverCommand.record(response) }
      }
      try await Interruptible.run { try await RecoverCommand.follow(id, connection) }
    }
  }

  struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "cancel", abstract: "Cancel a recovery. Notifications that it has already recovered are not removed.",
      discussion: "Example: attributionctl recover cancel 8d1c2f")

    @Argument(help: "The recovery's id.") var id: String
    @Flag(help: "Only show what would be done.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      if !dryRun {
        _ = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
          try await connection.client.recovery.cancelRecovery(CancelRecoveryRequest(recoveryId: id))
        }
      }
      let response = try await RecoverCommand.recovery(id, connection)
      try connection.printer.show(response) {
        var record = RecoverCommand.record(response)
        if dryRun { record.add("dry run", "it would be cancelled") }
        return record
      }
    }
  }

  private static func recovery(_ id: String, _ connection: Connection) async throws(CommandFailure) -> GetRecoveryResponse {
    try await connection.ask(.notificationRecovery) { () throws(RPCError) in
      try await connection.client.recovery.getRecovery(GetRecoveryRequest(recoveryId: id))
    }
  }

  /// Shows the progress until the recovery has ended, and then its result.
  private static func follow(_ id: String, _ connection: Connection) async throws {
    var line = ProgressLine(unit: "", total: 1, showsCount: false)
    defer { line.end() }
    while true {
      let response = try await recovery(id, connection)
      line.advance(to: response.progress ?? 0)
      if response.state != "running" {
        line.end()
        try connection.printer.show(response) { record(response) }
        if response.state != "completed" { throw ExitCode(ExitStatus.negative.rawValue) }
        return
      }
      try await Task.sleep(for: .milliseconds(500))
    }
  }

  private static func record(_ one: GetRecoveryResponse) -> Record {
    var record = Record()
    record.add("id", one.recoveryId)
    record.add("state", one.state, TerminalText.state(one.state))
    record.add("done", "\(Int((one.progress ?? 0) * 100)) %")
    record.add("app", "\(one.bundleId), \(one.environment)")
    record.add("from", one.startDate?.text)
    record.add("to", one.endDate?.text)
    record.add("pages", "\(one.pages ?? 0)")
    record.add("fetched", "\(one.fetched ?? 0)")
    record.add("new", "\(one.accepted ?? 0)")
    record.add("already received", "\(one.duplicates ?? 0)")
    record.add("failed", one.failed.flatMap { $0 > 0 ? "\($0)" : nil }, .bad)
    record.add("not delivered by Apple", one.undelivered.flatMap { $0 > 0 ? "\($0)" : nil }, .warning)
    for result in one.sendAttemptResults {
      let times = result.firstAttemptAt.flatMap { first in result.lastAttemptAt.map { " from \(first.text) to \($0.text)" } } ?? ""
      record.add("Apple: \(result.result)", "\(result.count ?? 0)\(times)" + (result.diagnosis.map { "; \($0)" } ?? ""))
    }
    for range in one.uncovered {
      record.add("no longer stored by Apple", Cell("\(range.startDate?.text ?? "") to \(range.endDate?.text ?? "")", .warning))
    }
    record.add("last error", one.lastError, .bad)
    return record
  }
}
