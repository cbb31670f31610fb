import AttributionClient
import AttributionProtocol
import Cryptography
import WireJSON

/// Sends a file of receipts batch by batch and waits for the end of the migration. Its caller, `attributionctl migrate`, calls
/// ``sendRemainingLines(_:)``, ``waitUntilFinished(_:)`` and ``writeFailures(_:)`` in this order.
struct ReceiptFileMigration {
  /// A batch gets no further line when it has this many bytes. With one line of `maxLineBytes` it still fits into a call, which may have
  /// 16 MiB (`Limits.batchBodyBytes`).
  private static let maxBatchBytes = 6 << 20
  /// A longer line is sent as an empty receipt and so becomes a failure.
  static let maxLineBytes = 8 << 20
  /// The number of batches after which the number of waiting receipts is queried again.
  private static let batchesBetweenQueries = 20

  let connection: Connection
  let file: String
  let bundleId: String
  let environment: String?
  /// Sending pauses while more receipts than this wait for Apple. The number is checked every `batchesBetweenQueries` batches.
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

  /// Sends the lines from `state.offset` on. The state is stored after each batch, so that the command can be resumed.
  func sendRemainingLines(_ state: inout MigrationState) async throws {
    var input = try InputFile(file, from: state.offset)
    let size = input.size ?? 0
    var line = ProgressLine(unit: "bytes", total: Double(size), already: Double(state.offset))
    defer { line.end() }
    var batches = 0
    while true {
      try Task.checkCancellation()
      var receipts: [(number: Int, receipt: ReceiptToMigrate)] = []
      var (batchBytes, lines) = (0, state.lines)
      while receipts.count < state.batch, batchBytes < Self.maxBatchBytes, let text = try input.line(limit: Self.maxLineBytes) {
        lines += 1
        // A line that is too long is read as an empty one, and must not be skipped like a blank line.
        let isBlank = !text.isEmpty && text.allSatisfy { $0 <= 32 }
        guard !isBlank, !(text.isEmpty && input.lineWasWhole) else { continue }
        receipts.append((lines, ReceiptLine.receipt(text, number: lines)))
        batchBytes += text.count
      }
      guard input.offset > state.offset else { return }
      if !receipts.isEmpty { try await sendBatch(receipts[...], &state) }
      state.offset = input.offset
      state.lines = lines
      try StoredFile.replace(MigrationState.path(of: file), with: state.json, mode: 0o600)
      line.advance(to: Double(state.offset))
      batches += 1
      if batches % Self.batchesBetweenQueries == 0 { try await waitUntilFewWait(state.migrationId) }
    }
  }

  /// Sends a batch. If it is refused, it is halved until the refused receipt is found, which is then sent without its content.
  private func sendBatch(_ receipts: ArraySlice<(number: Int, receipt: ReceiptToMigrate)>, _ state: inout MigrationState) async throws {
    let request = MigrateReceiptsRequest(
      bundleId: bundleId, environment: environment, receipts: receipts.map(\.receipt), migrationId: state.migrationId)
    // The idempotency key is derived from the batch's content: a batch that is sent again after a crash counts once.
    let digest = Hex.encode(SHA256Digest.hash(request.json)).prefix(32)
    let response: MigrateReceiptsResponse
    do {
      response = try await caller.call(
        { (options) throws(RPCError) in try await connection.client.recovery.migrateReceipts(request, options: options) },
        key: "\(state.migrationId):\(state.offset):\(digest)")
    } catch let error as RPCError {
      if error.reason == "MIGRATION_CANCELLED" {
        throw CommandFailure(
          .notAllowedNow, "the migration \(state.migrationId) was cancelled",
          advice: "Delete \(MigrationState.path(of: file)) and choose another name with --migration to start over.")
      }
      guard error.code == .invalidArgument || error.code == .resourceExhausted, let first = receipts.first else {
        throw CommandFailure(error, service: "notification-recovery at \(connection.layer.url(of: .service(.notificationRecovery)))")
      }
      if receipts.count > 1 {
        let middle = receipts.startIndex + receipts.count / 2
        try await sendBatch(receipts[..<middle], &state)
        try await sendBatch(receipts[middle...], &state)
      } else if first.receipt != ReceiptLine.empty(first.number) {
        // Neither the receipt nor its id is sent again, because the id may be what is refused.
        try await sendBatch([(first.number, ReceiptLine.empty(first.number))], &state)
      } else {
        throw CommandFailure(error, service: "notification-recovery at \(connection.layer.url(of: .service(.notificationRecovery)))")
      }
      return
    }
    for result in response.results { state.states[result.state, default: 0] += 1 }
  }

  /// Waits until at most `maxWaiting` receipts of the migration wait for Apple.
  private func waitUntilFewWait(_ id: String) async throws {
    while true {
      let waiting = try await migration(id).waiting ?? 0
      guard waiting > maxWaiting else { return }
      connection.printer.note("\(waiting) receipts are waiting for Apple")
      try await Task.sleep(for: .seconds(5))
    }
  }

  func migration(_ id: String) async throws -> Migration {
    do {
      let response = try await caller.call { (options) throws(RPCError) in
        try await connection.client.recovery.getMigration(GetMigrationRequest(migrationId: id), options: options)
      }
      return response.migration ?? Migration()
    } catch let error as RPCError {
      throw CommandFailure(error, service: "notification-recovery at \(connection.layer.url(of: .service(.notificationRecovery)))")
    }
  }

  /// Waits until the migration is completed or cancelled.
  func waitUntilFinished(_ id: String) async throws -> Migration {
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

  /// Writes a file with one line per failed receipt and its reason, or deletes the file if no receipt failed. Returns the number of lines,
  /// the number of failures whose reason is not stored, and the file's path.
  func writeFailures(_ id: String) async throws -> (lines: Int, notKept: Int64, path: String) {
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
