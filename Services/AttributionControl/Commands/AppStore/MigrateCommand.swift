import ArgumentParser
import AttributionProtocol
import WireJSON

struct MigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Migrate a file of receipts away from verifyReceipt; show migrations.",
    discussion: """
      Examples:
        attributionctl migrate receipts.jsonl --bundle-id com.example.app
        attributionctl migrate list
        attributionctl migrate failures file-0123456789abcdef01234567
        attributionctl migrate cancel file-0123456789abcdef01234567
      """, subcommands: [Start.self, List.self, Show.self, Failures.self, Cancel.self], defaultSubcommand: Start.self)

  struct Start: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "start", abstract: "Migrate a file of receipts, one per line (the default).",
      discussion: """
        Each line is one of: {"id": "…", "appReceipt": "<Base64>"}, or the same with transactionReceipt or verifyReceiptResponse instead \
        of appReceipt; the JSON answer of verifyReceipt; a receipt in Base64; a JWS of the App Store. The progress is stored in \
        FILE.migration.json, and the same command resumes from there. At the end, FILE.failures.jsonl lists the failed receipts, and the \
        ids of migrated receipts that could not be used, with their reasons. A receipt without an id, or one that cannot be sent, is \
        listed by its line number. An id that Apple does not know is looked up again for 15 minutes (migrations.unknownPatience). Exit \
        code 1: a receipt or one of its ids failed, or the migration was cancelled.

        Examples:
          attributionctl migrate receipts.jsonl --bundle-id com.example.app
          attributionctl migrate start receipts.jsonl --bundle-id com.example.app --dry-run
        """)

    @Argument(help: "The file.", completion: .file()) var file: String
    @Option(help: ArgumentHelp("The app's bundle id.", valueName: "id")) var bundleId: String
    @Option(help: "Production or Sandbox (default: production first, then the sandbox).", completion: .environments)
    var environment: String?
    @Option(help: ArgumentHelp("The migration's name (default: derived from the file's size and first bytes).", valueName: "id"))
    var migration: String?
    @Option(help: "Receipts per call, 1 to 1000. A resumed migration keeps the number with which it was started.") var batch = 500
    @Option(
      name: .customLong("most-waiting"),
      help: ArgumentHelp("Pause while more receipts than this wait for Apple.", valueName: "count"))
    var maxWaiting: Int64 = 50_000
    @Flag(inversion: .prefixedNo, help: "Wait until Apple has been asked about all receipts.") var wait = true
    @Flag(help: "Only read the file and show what it contains.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func validate() throws {
      guard (1...1000).contains(batch) else { throw ValidationError("--batch must be 1 to 1000.") }
      if let environment, !["Production", "Sandbox"].contains(environment) {
        throw ValidationError("--environment must be Production or Sandbox.")
      }
      if file == "-" { throw ValidationError("Receipts must be read from a file: reading from standard input cannot be resumed.") }
    }

    func run() async throws {
      if dryRun { return try showContents(Printer(format: try options.resolved().output ?? .table)) }
      let connection = try Connection(options)
      let state = try storedOrNewState()
      let work = ReceiptFileMigration(
        connection: connection, file: file, bundleId: bundleId, environment: environment, maxWaiting: maxWaiting)
      let waits = wait
      try await Interruptible.run { try await Self.migrate(work, from: state, waits: waits) }
    }

    /// Reads the stored state, or creates and stores a new one.
    private func storedOrNewState() throws(CommandFailure) -> MigrationState {
      if let stored = try MigrationState.stored(for: file) {
        if let migration, migration != stored.migrationId {
          throw CommandFailure(
            .refusedInput, "\(MigrationState.path(of: file)) belongs to migration \(stored.migrationId)",
            advice: "Delete that file to start over.")
        }
        return stored
      }
      var input = try InputFile(file)
      guard let size = input.size else { throw CommandFailure(.noInput, "\(file) is not a regular file") }
      let beginning = try input.prefix(1 << 20)
      let state = MigrationState(
        migrationId: migration
          ?? MigrationState.name(size: size, bundleId: bundleId, environment: environment, beginning: beginning), batch: batch)
      try StoredFile.replace(MigrationState.path(of: file), with: state.json, mode: 0o600)
      return state
    }

    /// Sends the receipts and, if `waits` is true, waits for the end of the migration and writes the failures.
    private static func migrate(_ work: ReceiptFileMigration, from initial: MigrationState, waits: Bool) async throws {
      let printer = work.connection.printer
      var state = initial
      printer.note("migration \(state.migrationId)" + (state.offset > 0 ? ", resumed at line \(state.lines + 1)" : ""))
      try await work.sendRemainingLines(&state)
      guard !state.states.isEmpty else { return printer.note("the file contains no receipt") }
      let states = state.states.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
      printer.note("all receipts are sent: \(states)")
      guard waits else {
        let found = try await work.migration(state.migrationId)
        return try printer.show(found) { MigrateCommand.record(found) }
      }
      let found = try await work.waitUntilFinished(state.migrationId)
      let failures = try await work.writeFailures(state.migrationId)
      try printer.show(found) { MigrateCommand.record(found) }
      if failures.lines > 0 || failures.notKept > 0 {
        printer.note(
          "failed receipts and ids: \(failures.path)"
            + (failures.notKept > 0 ? " (\(failures.notKept) more failed; their reasons are not stored)" : ""))
      }
      if failures.lines > 0 || failures.notKept > 0 || found.state == "cancelled" { throw ExitCode(ExitStatus.negative.rawValue) }
    }

    /// Shows what the file contains, without calling a service.
    private func showContents(_ printer: Printer) throws {
      var input = try InputFile(file)
      var (lines, counts) = (0, [String: Int64]())
      while let line = try input.line(limit: ReceiptFileMigration.maxLineBytes) {
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
      commandName: "list", abstract: "List migrations, newest first.", discussion: "Example: attributionctl migrate list --limit 10")

    @OptionGroup var list: JobListOptions
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let response = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
        try await connection.client.recovery.listMigrations(ListMigrationsRequest(bundleId: list.bundleId, maxMigrations: list.limit))
      }
      try connection.printer.show(response, none: "There are no migrations.") {
        var table = Table([
          "id", "app", "state", Table.Column("done", isNumber: true), Table.Column("receipts", isNumber: true),
          Table.Column("failed", isNumber: true), "started",
        ])
        for one in response.migrations {
          table.add(
            Cell(one.migrationId), Cell(one.bundleId), Cell(one.state, TerminalText.state(one.state)),
            Cell("\(Int((one.progress ?? 0) * 100)) %"),
            Cell("\(one.receipts ?? 0)"), Cell("\(one.failed ?? 0)", (one.failed ?? 0) > 0 ? .bad : .plain), Cell(one.startedAt?.text))
        }
        return table
      }
    }
  }

  struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "show", abstract: "Show a migration.", discussion: "Example: attributionctl migrate show file-0123456789abcdef01234567")

    @Argument(help: "The migration's id.") var id: String
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let response = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
        try await connection.client.recovery.getMigration(GetMigrationRequest(migrationId: id))
      }
      try connection.printer.show(response) { MigrateCommand.record(response.migration ?? Migration()) }
    }
  }

  struct Failures: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "failures", abstract: "List the receipts and ids of a migration that failed, with the reason.",
      discussion: "Example: attributionctl migrate failures file-0123456789abcdef01234567 --output json")

    @Argument(help: "The migration's id.") var id: String
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let (failures, notKept) = try await ReceiptFileMigration.failures(id, connection)
      let message = ListMigrationFailuresResponse(failures: failures, notKept: notKept)
      try connection.printer.show(message, none: "No receipt failed.") {
        var table = Table(["receipt", "reason", "apple", "ids", "message"])
        for one in failures {
          table.add(
            Cell(one.id), Cell(one.reason, .bad), Cell(one.errorCode.map { "\($0)" }), Cell(one.transactionIds.joined(separator: " ")),
            Cell(one.message))
        }
        return table
      }
      if notKept > 0 { connection.printer.note("\(notKept) more failed; their reasons are not stored.") }
    }
  }

  struct Cancel: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "cancel", abstract: "Cancel a migration: Apple is not asked about the waiting receipts, and no receipt can be added.",
      discussion: "Example: attributionctl migrate cancel file-0123456789abcdef01234567 --dry-run")

    @Argument(help: "The migration's id.") var id: String
    @Flag(help: "Only show what would be done.") var dryRun = false
    @OptionGroup(title: "Connection") var options: ConnectionOptions

    func run() async throws {
      let connection = try Connection(options)
      let found: Migration
      if dryRun {
        let response = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
          try await connection.client.recovery.getMigration(GetMigrationRequest(migrationId: id))
        }
        found = response.migration ?? Migration()
      } else {
        let response = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
          try await connection.client.recovery.cancelMigration(CancelMigrationRequest(migrationId: id))
        }
        found = response.migration ?? Migration()
      }
      try connection.printer.show(found) {
        var record = MigrateCommand.record(found)
        if dryRun { record.add("dry run", "\(TerminalText.count(found.waiting ?? 0, "receipt")) would not be sent to Apple") }
        return record
      }
    }
  }

  static func record(_ one: Migration) -> Record {
    var record = Record()
    record.add("id", one.migrationId)
    record.add("app", one.bundleId)
    record.add("state", one.state, TerminalText.state(one.state))
    record.add("done", "\(Int((one.progress ?? 0) * 100)) %")
    record.add("receipts", "\(one.receipts ?? 0)")
    record.add("migrated", "\(one.migrated ?? 0)")
    record.add("same purchases as another", "\(one.duplicates ?? 0)")
    record.add("without a purchase", "\(one.noPurchase ?? 0)")
    record.add("failed", Cell("\(one.failed ?? 0)", (one.failed ?? 0) > 0 ? .bad : .plain))
    record.add("unused ids of migrated receipts", Cell("\(one.partialFailures ?? 0)", (one.partialFailures ?? 0) > 0 ? .bad : .plain))
    record.add("waiting for Apple", "\(one.waiting ?? 0)")
    if one.state == "cancelled" { record.add("cancelled", "\(one.cancelled ?? 0)") }
    record.add("transactions", "\(one.transactions ?? 0)")
    record.add("subscriptions", "\(one.subscriptions ?? 0)")
    record.add("started", one.startedAt?.text)
    return record
  }
}
