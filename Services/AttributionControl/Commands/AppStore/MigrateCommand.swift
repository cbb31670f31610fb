import ArgumentParser
import AttributionProtocol
import WireJSON

struct MigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Leave verifyReceipt: work a file of receipts; look at migrations.",
    discussion: """
      Examples:
        attributionctl migrate receipts.jsonl --bundle-id com.example.app
        attributionctl migrate list
        attributionctl migrate failures file-0123456789abcdef01234567
        attributionctl migrate cancel file-0123456789abcdef01234567
      """, subcommands: [Start.self, List.self, Show.self, Failures.self, Cancel.self], defaultSubcommand: Start.self)

  struct Start: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "start", abstract: "Work a file of receipts, one a line, any number of lines (the default).",
      discussion: """
        A line is one of {"id": "…", "appReceipt": "<Base64>"}, with transactionReceipt or verifyReceiptResponse in place of appReceipt; what \
        verifyReceipt answered, as JSON; or a receipt in Base64 by itself. How far it is stands in FILE.migration.json: the same command goes \
        on from there. Receipts that failed, and why, are in FILE.failures.jsonl when all is done. A line without an id, or that no call \
        takes, is called by its number there. Exit code 1: a receipt failed, or the migration was cancelled.

        Examples:
          attributionctl migrate receipts.jsonl --bundle-id com.example.app
          attributionctl migrate start receipts.jsonl --bundle-id com.example.app --dry-run
        """)

    @Argument(help: "The file.", completion: .file()) var file: String
    @Option(help: ArgumentHelp("The app.", valueName: "id")) var bundleId: String
    @Option(help: "Production or Sandbox (default: production first, then the sandbox).", completion: .environments)
    var environment: String?
    @Option(help: ArgumentHelp("The migration's name (default: made from the file's size and beginning).", valueName: "id"))
    var migration: String?
    @Option(help: "Receipts a call, 1 to 1000; a file that was begun keeps its own.") var batch = 500
    @Option(help: ArgumentHelp("Hand in no more while so many wait for Apple.", valueName: "count")) var mostWaiting: Int64 = 50_000
    @Flag(inversion: .prefixedNo, help: "Wait until Apple was asked about all of them.") var wait = true
    @Flag(help: "Only read the file, and say what is in it.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func validate() throws {
      guard (1...1000).contains(batch) else { throw ValidationError("--batch must be 1 to 1000.") }
      if let environment, !["Production", "Sandbox"].contains(environment) {
        throw ValidationError("--environment must be Production or Sandbox.")
      }
      if file == "-" { throw ValidationError("Receipts are read from a file: what is read from standard input could not be gone on with.") }
    }

    func run() async throws {
      if dryRun { return try showContents(Printer(format: try options.resolved().output ?? .table)) }
      let connection = try Connection(options)
      let state = try begun()
      let work = ReceiptFileMigration(
        connection: connection, file: file, bundleId: bundleId, environment: environment, mostWaiting: mostWaiting)
      let waits = wait
      try await Interruptible.run { try await Self.work(work, state, waits: waits) }
    }

    private func begun() throws(CommandFailure) -> MigrationState {
      if let stored = try MigrationState.stored(for: file) {
        if let migration, migration != stored.migrationId {
          throw CommandFailure(
            .refusedInput, "\(MigrationState.path(of: file)) is of migration \(stored.migrationId)", advice: "Remove it to begin anew.")
        }
        return stored
      }
      var input = try InputFile(file)
      guard let size = input.size else { throw CommandFailure(.noInput, "\(file) is no file") }
      let beginning = try input.prefix(1 << 20)
      let state = MigrationState(
        migrationId: migration
          ?? MigrationState.name(size: size, bundleId: bundleId, environment: environment, beginning: beginning), batch: batch)
      try StoredFile.replace(MigrationState.path(of: file), with: state.json, mode: 0o600)
      return state
    }

    private static func work(_ work: ReceiptFileMigration, _ begun: MigrationState, waits: Bool) async throws {
      let printer = work.connection.printer
      var state = begun
      printer.note("migration \(state.migrationId)" + (state.offset > 0 ? ", on from line \(state.lines + 1)" : ""))
      try await work.handIn(&state)
      guard !state.states.isEmpty else { return printer.note("there is no receipt in the file") }
      let states = state.states.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
      printer.note("all handed in: \(states)")
      guard waits else {
        let found = try await work.migration(state.migrationId)
        return try printer.show(found) { MigrateCommand.record(found) }
      }
      let found = try await work.finished(state.migrationId)
      let report = try await work.report(state.migrationId)
      try printer.show(found) { MigrateCommand.record(found) }
      if report.kept > 0 || report.notKept > 0 {
        printer.note(
          "what failed and why: \(report.path)" + (report.notKept > 0 ? " (\(report.notKept) more are only counted)" : ""))
      }
      if report.kept > 0 || report.notKept > 0 || found.state == "cancelled" { throw ExitCode(ExitStatus.negative.rawValue) }
    }

    /// Shows what the file contains, without calling a service.
    private func showContents(_ printer: Printer) throws {
      var input = try InputFile(file)
      var (lines, counts) = (0, [String: Int64]())
      while let line = try input.line(most: 8 << 20) {
        lines += 1
        guard !line.allSatisfy({ $0 <= 32 }) || !input.lineWasWhole else { continue }
        let receipt = ReceiptLine.receipt(line, number: lines)
        let kind =
          receipt.appReceipt != nil
          ? "app receipts"
          : receipt.transactionReceipt != nil
            ? "transaction receipts" : receipt.verifyReceiptResponse != nil ? "answers of verifyReceipt" : "unreadable lines"
        counts[kind, default: 0] += 1
      }
      let sorted = counts.sorted { $0.key < $1.key }
      let members = sorted.map { JSONObject.Member(key: $0.key, value: .integer($0.value)) }
      try printer.show(["dryRun": true, "lines": .integer(lines), "found": .object(JSONObject(members))]) {
        var record = Record([("lines", Cell("\(lines)"))])
        for (kind, count) in sorted { record.add(kind, Cell("\(count)", kind == "unreadable lines" ? .bad : .plain)) }
        return record
      }
    }
  }

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "list", abstract: "Migrations, the newest first.", discussion: "Example: attributionctl migrate list --limit 10")

    @OptionGroup var list: JobListOptions
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let answer = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
        try await connection.client.recovery.listMigrations(ListMigrationsRequest(bundleId: list.bundleId, maxMigrations: list.limit))
      }
      try connection.printer.show(answer, none: "There is no migration.") {
        var table = Table([
          "id", "app", "state", Table.Column("done", isNumber: true), Table.Column("receipts", isNumber: true),
          Table.Column("failed", isNumber: true), "started",
        ])
        for one in answer.migrations {
          table.add(
            Cell(one.migrationId), Cell(one.bundleId), Cell(one.state, DisplayFormat.state(one.state)),
            Cell("\(Int((one.progress ?? 0) * 100)) %"),
            Cell("\(one.receipts ?? 0)"), Cell("\(one.failed ?? 0)", (one.failed ?? 0) > 0 ? .bad : .plain), Cell(one.startedAt?.text))
        }
        return table
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "One migration.", discussion: "Example: attributionctl migrate show file-0123456789abcdef01234567")

    @Argument(help: "Its id.") var id: String
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let answer = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
        try await connection.client.recovery.getMigration(GetMigrationRequest(migrationId: id))
      }
      try connection.printer.show(answer) { MigrateCommand.record(answer.migration ?? Migration()) }
    }
  }

  struct Failures: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "failures", abstract: "Receipts of a migration that failed, and why.",
      discussion: "Example: attributionctl migrate failures file-0123456789abcdef01234567 --output json")

    @Argument(help: "The migration's id.") var id: String
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let (failures, notKept) = try await ReceiptFileMigration.failures(id, connection)
      let message = ListMigrationFailuresResponse(failures: failures, notKept: notKept)
      try connection.printer.show(message, none: "No receipt failed.") {
        var table = Table(["receipt", "reason", "apple", "message"])
        for one in failures { table.add(Cell(one.id), Cell(one.reason, .bad), Cell(one.errorCode.map { "\($0)" }), Cell(one.message)) }
        return table
      }
      if notKept > 0 { connection.printer.note("\(notKept) more are only counted.") }
    }
  }

  struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "cancel", abstract: "End a migration: Apple is not asked about the receipts that still wait, and none can be added.",
      discussion: "Example: attributionctl migrate cancel file-0123456789abcdef01234567 --dry-run")

    @Argument(help: "Its id.") var id: String
    @Flag(help: "Only say what would be done.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let found: Migration
      if dryRun {
        let answer = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
          try await connection.client.recovery.getMigration(GetMigrationRequest(migrationId: id))
        }
        found = answer.migration ?? Migration()
      } else {
        let answer = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
          try await connection.client.recovery.cancelMigration(CancelMigrationRequest(migrationId: id))
        }
        found = answer.migration ?? Migration()
      }
      try connection.printer.show(found) {
        var record = MigrateCommand.record(found)
        if dryRun { record.add("dry run", "\(DisplayFormat.count(found.waiting ?? 0, "receipt")) would not be asked about") }
        return record
      }
    }
  }

  static func record(_ one: Migration) -> Record {
    var record = Record()
    record.add("id", one.migrationId)
    record.add("app", one.bundleId)
    record.add("state", one.state, DisplayFormat.state(one.state))
    record.add("done", "\(Int((one.progress ?? 0) * 100)) %")
    record.add("receipts", "\(one.receipts ?? 0)")
    record.add("migrated", "\(one.migrated ?? 0)")
    record.add("named the purchases of another", "\(one.duplicates ?? 0)")
    record.add("without a purchase", "\(one.noPurchase ?? 0)")
    record.add("failed", Cell("\(one.failed ?? 0)", (one.failed ?? 0) > 0 ? .bad : .plain))
    record.add("wait for Apple", "\(one.waiting ?? 0)")
    if one.state == "cancelled" { record.add("cancelled", "\(one.cancelled ?? 0)") }
    record.add("transactions", "\(one.transactions ?? 0)")
    record.add("subscriptions", "\(one.subscriptions ?? 0)")
    record.add("started", one.startedAt?.text)
    return record
  }
}
