import AttributionClient
import AttributionProtocol
import Cryptography
import WireJSON

/// Hands a file of receipts in, batch by batch, and waits for the migration's end.
struct ReceiptFileMigration {
  /// Bytes of the file that one call takes at the most.
  private static let mostBytes = 6 << 20
  private static let longestLine = 8 << 20
  /// Batches between two looks at how many receipts wait.
  private static let batchesBetweenLooks = 20

  let connection: Connection
  let file: String
  let bundleId: String
  let environment: String?
  let mostWaiting: Int64
  private let caller: RetryingCaller

  init(connection: Connection, file: String, bundleId: String, environment: String?, mostWaiting: Int64) {
    self.connection = connection
    self.file = file
    self.bundleId = bundleId
    self.environment = environment
    self.mostWaiting = mostWaiting
    caller = RetryingCaller(connection: connection)
  }

  /// Hands in what is left of the file.
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
      while receipts.count < state.batch, taken < Self.mostBytes, let text = try input.line(most: Self.longestLine) {
        lines += 1
        // A line that is too long is read as an empty one, and may not be lost.
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

  /// Halves a batch that is refused until what no call takes is found, and hands that in empty.
  private func handIn(_ receipts: ArraySlice<(number: Int, receipt: ReceiptToMigrate)>, _ state: inout MigrationState) async throws {
    let request = MigrateReceiptsRequest(
      bundleId: bundleId, environment: environment, receipts: receipts.map(\.receipt), migrationId: state.migrationId)
    // The same receipts under the same name: handed in again after a crash, they are one batch.
    let digest = Hex.encode(SHA256Digest.hash(request.json)).prefix(32)
    let answer: MigrateReceiptsResponse
    do {
      answer = try await caller.ask(
        { (options) throws(RPCError) in try await connection.client.recovery.migrateReceipts(request, options: options) },
        key: "\(state.migrationId):\(state.offset):\(digest)")
    } catch let error as RPCError {
      if error.reason == "MIGRATION_CANCELLED" {
        throw CommandFailure(
          .notAllowedNow, "the migration \(state.migrationId) was cancelled",
          advice: "--migration with another name, and without \(MigrationState.path(of: file)), begins anew.")
      }
      guard error.code == .invalidArgument || error.code == .resourceExhausted, let first = receipts.first else {
        throw CommandFailure(error, asked: "notification-recovery at \(connection.layer.url(of: .service(.notificationRecovery)))")
      }
      if receipts.count > 1 {
        let middle = receipts.startIndex + receipts.count / 2
        try await handIn(receipts[..<middle], &state)
        try await handIn(receipts[middle...], &state)
      } else if first.receipt != ReceiptLine.empty(first.number) {
        // Nothing of the line is sent again, its id neither: it may be what is refused.
        try await handIn([(first.number, ReceiptLine.empty(first.number))], &state)
      } else {
        throw CommandFailure(error, asked: "notification-recovery at \(connection.layer.url(of: .service(.notificationRecovery)))")
      }
      return
    }
    for result in answer.results { state.states[result.state, default: 0] += 1 }
  }

  private func waitForRoom(_ id: String) async throws {
    while true {
      let waiting = try await migration(id).waiting ?? 0
      guard waiting > mostWaiting else { return }
      connection.printer.note("\(waiting) receipts wait for Apple")
      try await Task.sleep(for: .seconds(5))
    }
  }

  func migration(_ id: String) async throws -> Migration {
    do {
      let answer = try await caller.ask { (options) throws(RPCError) in
        try await connection.client.recovery.getMigration(GetMigrationRequest(migrationId: id), options: options)
      }
      return answer.migration ?? Migration()
    } catch let error as RPCError {
      throw CommandFailure(error, asked: "notification-recovery at \(connection.layer.url(of: .service(.notificationRecovery)))")
    }
  }

  /// Waits until nothing waits any more.
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

  /// Writes down what failed and why, one a line; how many, and how many more are only counted.
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
