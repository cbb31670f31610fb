import AttributionClient
import AttributionProtocol
import Cryptography
import WireJSON

/// Sends a file of receipts batch by batch and waits for the end of the migration.
struct ReceiptFileMigration {
  /// The most bytes of the file in one call.
  private static let maxBytes = 6 << 20
  private static let maxLineBytes = 8 << 20
  /// The number of batches after which the number of waiting receipts is read again.
  private static let batchesBetweenLooks = 20

  let connection: Connection
  let file: String
  let bundleId: String
  let environment: String?
  let maxWaiting: Int64
  private let caller: RetryingCaller

  init(connection: Connection, file: String, bundleId: String, environment: String?, maxWaiting: Int64) {
    self.connection = connection
    self.file = file
    self.bundleId = bundleId
    self.environment = environment
    self.maxWaiting = maxWaiting
    caller = RetryingCaller(connection: connection)
  }

  /// Sends the rest of the file.
  func handIn(_ state: inout MigrationState) async throws {
    var input = try InputFile(file, from: state.offset)
    let size = input.size ?? 0
    var line = ProgressLine(unit: "bytes", total: Double(size), already: Double(state.offset))
    defer { line.end() }
    var batches = 0
    while true {
      try Task.checkCancellation()
      var receipts: [(number: Int, receipt: ReceiptToMigrate)] = []
      var (taken, lines) = (0, state.lines)
      while receipts.count < state.batch, taken < Self.maxBytes, let text = try input.line(limit: Self.maxLineBytes) {
        lines += 1
        // A line that is too long is read as an empty one, and must not be skipped like a blank line.
        let isBlank = !text.isEmpty && text.allSatisfy { $0 <= 32 }
        guard !isBlank, !(text.isEmpty && input.lineWasWhole) else { continue }
        receipts.append((lines, ReceiptLine.receipt(text, number: lines)))
        taken += text.count
      }
      guard input.offset > state.offset else { return }
      if !receipts.isEmpty { try await handIn(receipts[...], &state) }
      state.offset = input.offset
      state.lines = lines
      try StoredFile.replace(MigrationState.path(of: file), with: state.json, mode: 0o600)
      line.advance(to: Double(state.offset))
      batches += 1
      if batches % Self.batchesBetweenLooks == 0 { try await waitForRoom(state.migrationId) }
    }
  }

  /// Halves a refused batch until the refused receipt is found, and sends that one without its content.
  private func handIn(_ receipts: ArraySlice<(number: Int, receipt: ReceiptToMigrate)>, _ state: inout MigrationState) async throws {
    let request = MigrateReceiptsRequest(
      bundleId: bundleId, environment: environment, receipts: receipts.map(\.receipt), migrationId: state.migrationId)
    // The batch's name is derived from its content: if it is sent again after a crash, it counts as one batch.
    let digest = Hex.encode(SHA256Digest.hash(request.json)).prefix(32)
    let response: MigrateReceiptsResponse
    do {
      response = try await caller.ask(
        { (options) throws(RPCError) in try await connection.client.recovery.migrateReceipts(request, options: options) },
        key: "\(state.migrationId):\(state.offset):\(digest)")
    } catch let error as RPCError {
      if error.reason == "MIGRATION_CANCELLED" {
        throw CommandFailure(
          .notAllowedNow, "the migration \(state.migrationId) was cancelled",
          advice: "Delete \(MigrationState.path(of: file)) and choose another name with --migration to start over.")
      }
      guard error.code == .invalidArgument || error.code == .resourceExhausted, let first = receipts.first else {
        throw CommandFailure(error, asked: "notification-recovery at \(connection.layer.url(of: .service(.notificationRecovery)))")
      }
      if receipts.count > 1 {
        let middle = receipts.startIndex + receipts.count / 2
        try await handIn(receipts[..<middle], &state)
        try await handIn(receipts[middle...], &state)
      } else if first.receipt != ReceiptLine.empty(first.number) {
        // Neither the receipt nor its id is sent again, because the id may be what is refused.
        try await handIn([(first.number, ReceiptLine.empty(first.number))], &state)
      } else {
        throw CommandFailure(error, asked: "notification-recovery at \(connection.layer.url(of: .service(.notificationRecovery)))")
      }
      return
    }
    for result in response.results { state.states[result.state, default: 0] += 1 }
  }

  private func waitForRoom(_ id: String) async throws {
    while true {
      let waiting = try await migration(id).waiting ?? 0
      guard waiting > maxWaiting else { return }
      connection.printer.note("\(waiting) receipts are waiting for Apple")
      try await Task.sleep(for: .seconds(5))
    }
  }

  func migration(_ id: String) async throws -> Migration {
    do {
      let response = try await caller.ask { (options) throws(RPCError) in
        try await connection.client.recovery.getMigration(GetMigrationRequest(migrationId: id), options: options)
      }
      return response.migration ?? Migration()
    } catch let error as RPCError {
      throw CommandFailure(error, asked: "notification-recovery at \(connection.layer.url(of: .service(.notificationRecovery)))")
    }
  }

  /// Waits until no receipt is waiting.
  func finished(_ id: String) async throws -> Migration {
    var line = ProgressLine(unit: "receipts", total: nil)
    defer { line.end() }
    while true {
      let found = try await migration(id)
      guard found.state == "running" else { return found }
      line.progress.total = Double(found.receipts ?? 0)
      line.advance(to: Double((found.receipts ?? 0) - (found.waiting ?? 0)))
      try await Task.sleep(for: .milliseconds(500))
    }
  }

  /// Writes one line per failed receipt with its reason. Returns the number of lines, the number of failures whose reason is not stored,
  /// and the file's path.
  func report(_ id: String) async throws -> (kept: Int, notKept: Int64, path: String) {
    let path = file + ".failures.jsonl"
    let (failures, notKept) = try await Self.failures(id, connection)
    var text: [UInt8] = []
    for failure in failures { text += failure.json + [10] }
    guard !failures.isEmpty || notKept > 0 else {
      StoredFile.remove(path)
      return (0, 0, path)
    }
    try StoredFile.replace(path, with: text, mode: 0o600)
    return (failures.count, notKept, path)
  }

  static func failures(_ id: String, _ connection: Connection) async throws(CommandFailure) -> ([MigrationFailure], notKept: Int64) {
    var (failures, notKept): ([MigrationFailure], Int64) = ([], 0)
    var token: String?
    repeat {
      let request = ListMigrationFailuresRequest(migrationId: id, maxFailures: 1000, pageToken: token)
      let page = try await connection.ask(.notificationRecovery) { () throws(RPCError) in
        try await connection.client.recovery.listMigrationFailures(request)
      }
      failures += page.failures
      notKept = page.notKept ?? 0
      token = page.nextPageToken
    } while token != nil
    return (failures, notKept)
  }
}
