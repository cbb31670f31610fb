import AppStore
import AttributionProtocol
import AttributionQueue
import RedisClient
import ServiceRuntime

/// Finds the ids of receipts and queues them. Returns before Apple is asked.
struct MigrateReceiptsHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.MigrateReceipts
  let calls: AppStoreCalls
  let deliveries: DeliveryQueue
  let store: MigrationStore
  /// The greatest number of receipts of one call.
  let maxReceipts: Int

  func handle(_ request: MigrateReceiptsRequest, _ context: RPCContext) async throws(RPCError) -> MigrateReceiptsResponse {
    let app = try calls.app(request.bundleId)
    let server = try calls.server(request.environment, of: app)
    guard !request.receipts.isEmpty else { throw .invalidArgument(field: "receipts", "is missing") }
    guard request.receipts.count <= maxReceipts else { throw .invalidArgument(field: "receipts", "has more than \(maxReceipts) items") }
    for (index, receipt) in request.receipts.enumerated() where (receipt.id ?? "").utf8.count > 256 {
      throw .invalidArgument(field: "receipts[\(index)].id", "is longer than 256 bytes")
    }
    // A call that is executed again after a crash names the same migration and the same batch. Other receipts under a reused key are
    // another batch.
    let batch = RecoveryID.make([
      "migrate", context.caller, context.idempotencyKey ?? context.requestId, String(decoding: request.json, as: UTF8.self),
    ])
    let id = try MigrationName.checked(request.migrationId) ?? batch
    var tasks: [MigrationTask] = []
    var failures: [MigrationFailureRecord] = []
    var noPurchase = 0
    var results: [MigratedReceipt] = []
    /// For each task, the index of its receipt in the response.
    var places: [Int] = []
    for receipt in request.receipts {
      var result = MigratedReceipt(id: receipt.id)
      do throws(ReceiptContents.Failure) {
        let reading = try ReceiptContents(receipt, bundleId: app.bundleId)
        result.originalTransactionIds = reading.originalTransactionIds
        result.transactionIds = reading.originalTransactionIds.isEmpty ? reading.transactionIds : []
        if reading.ids.isEmpty {
          result.state = "no-purchase"
          noPurchase += 1
        } else {
          places.append(results.count)
          tasks.append(
            MigrationTask(migrationId: id, bundleId: app.bundleId, server: server, receiptId: receipt.id, ids: reading.ids))
        }
      } catch {
        result.state = "failed"
        result.error = error.message
        failures.append(
          MigrationFailureRecord(
            receiptId: receipt.id, reason: error.reason.rawValue, message: error.message, errorCode: error.errorCode,
            failedAt: WallClock.now()))
      }
      results.append(result)
    }
    let addition: MigrationStore.Addition
    do throws(RedisError) {
      addition = try await store.add(
        id, batch: batch, bundleId: app.bundleId, receipts: results.count, noPurchase: noPurchase, failures: failures, tasks: tasks)
    } catch { throw RPCError(error) }
    switch addition {
    case .ofAnotherApp: throw .failedPrecondition("the migration is another app's", reason: "MIGRATION_OF_ANOTHER_APP")
    case .cancelled:
      throw .failedPrecondition("the migration was cancelled: receipts go into another one", reason: "MIGRATION_CANCELLED")
    case .added(let isNew):
      for (index, place) in places.enumerated() { results[place].state = isNew[index] ? "queued" : "duplicate" }
    }
    // Known ones are queued too, because the call that stored them may have ended before it queued them. A queued or finished one is not
    // asked about twice.
    try await queue(tasks)
    return MigrateReceiptsResponse(results: results, migrationId: id)
  }

  /// Concurrently, because Redis syncs concurrent writes to disk at once.
  private func queue(_ tasks: [MigrationTask]) async throws(RPCError) {
    let failure = await withTaskGroup(of: QueueError?.self) { group in
      for task in tasks {
        group.addTask {
          do throws(QueueError) {
            _ = try await deliveries.accept(
              AcceptRequest(
                queue: .migrations, idempotencyKey: "migrate:\(task.migrationId):\(task.member)",
                message: QueueMessage(kind: MigrationTask.kind, body: task.body, receivedAt: WallClock.now(), source: "rpc")))
            return nil
          } catch { return error }
        }
      }
      return await group.reduce(nil) { $0 ?? $1 }
    }
    // A repetition with the same key continues where this call stopped.
    switch failure {
    case nil: return
    case .backlogFull: throw .unavailable("too many receipts wait", reason: "BACKLOG_FULL", retryAfter: .seconds(5))
    default: throw .unavailable("the queue's store is unavailable", reason: "STORE_UNAVAILABLE")
    }
  }
}

/// The progress of a migration.
struct GetMigrationHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.GetMigration
  let store: MigrationStore

  func handle(_ request: GetMigrationRequest, _ context: RPCContext) async throws(RPCError) -> GetMigrationResponse {
    GetMigrationResponse(migration: Migration(try await store.known(request.migrationId)))
  }
}

/// Cancels a migration. Apple is not asked about receipts that wait; requests in flight are finished and counted.
struct CancelMigrationHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.CancelMigration
  let store: MigrationStore

  func handle(_ request: CancelMigrationRequest, _ context: RPCContext) async throws(RPCError) -> CancelMigrationResponse {
    let known = try await store.known(request.migrationId)
    do throws(RedisError) { try await store.cancel(known.id) } catch { throw RPCError(error) }
    return CancelMigrationResponse(migration: Migration(try await store.known(known.id)))
  }
}

/// The migrations that are still kept, newest first.
struct ListMigrationsHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.ListMigrations
  let store: MigrationStore

  func handle(_ request: ListMigrationsRequest, _ context: RPCContext) async throws(RPCError) -> ListMigrationsResponse {
    let limit = Int(request.maxMigrations ?? 100)
    guard (1...1000).contains(limit) else { throw .invalidArgument(field: "maxMigrations", "must be 1 to 1000") }
    let token = try PageToken.checked(request.pageToken)
    do throws(RedisError) {
      let page = try await store.list(bundleId: request.bundleId, limit: limit, after: token)
      return ListMigrationsResponse(migrations: page.migrations.map { Migration($0) }, nextPageToken: page.next?.text)
    } catch { throw RPCError(error) }
  }
}

/// The receipts of a migration that failed, and why.
struct ListMigrationFailuresHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.ListMigrationFailures
  let store: MigrationStore

  func handle(_ request: ListMigrationFailuresRequest, _ context: RPCContext) async throws(RPCError) -> ListMigrationFailuresResponse {
    let migration = try await store.known(request.migrationId)
    let limit = Int(request.maxFailures ?? 100)
    guard (1...1000).contains(limit) else { throw .invalidArgument(field: "maxFailures", "must be 1 to 1000") }
    let token = request.pageToken.flatMap { $0.isEmpty ? nil : $0 }
    if let token {
      let parts = token.split(separator: "-", omittingEmptySubsequences: false)
      guard parts.count == 2, parts.allSatisfy({ UInt64($0) != nil }) else {
        throw .invalidArgument(field: "pageToken", "is not a nextPageToken of this method")
      }
    }
    do throws(RedisError) {
      let page = try await store.failures(migration.id, limit: limit, after: token)
      return ListMigrationFailuresResponse(
        failures: page.failures.map { MigrationFailure($0) }, nextPageToken: page.next,
        notKept: migration.failuresNotKept > 0 ? migration.failuresNotKept : nil)
    } catch { throw RPCError(error) }
  }
}

/// The rule for names of migrations.
enum MigrationName {
  /// Nil if no name is given.
  static func checked(_ name: String?) throws(RPCError) -> String? {
    guard let name, !name.isEmpty else { return nil }
    let isAllowed = name.utf8.allSatisfy { byte in
      switch byte {
      case 48...57, 65...90, 97...122, UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
      default: false
      }
    }
    guard isAllowed, name.utf8.count <= 64 else {
      throw .invalidArgument(field: "migrationId", "must be 1 to 64 of A-Z a-z 0-9 . _ -")
    }
    return name
  }
}

extension MigrationStore {
  /// The migration of that id, for a caller.
  func known(_ id: String?) async throws(RPCError) -> MigrationRecord {
    guard let id = try MigrationName.checked(id) else { throw .invalidArgument(field: "migrationId", "is missing") }
    do throws(RedisError) {
      if let record = try await migration(id) { return record }
    } catch { throw RPCError(error) }
    throw .notFound("no such migration", field: "migrationId")
  }
}

extension Migration {
  init(_ record: MigrationRecord) {
    self.init()
    migrationId = record.id
    bundleId = record.bundleId
    state = record.state.rawValue
    progress = record.progress
    receipts = record.receipts
    duplicates = record.duplicates
    noPurchase = record.noPurchase
    migrated = record.migrated
    failed = record.unreadable + record.refused
    waiting = record.waiting
    transactions = record.transactions
    subscriptions = record.subscriptions
    startedAt = Timestamp(millisecondsSince1970: record.startedAt)
    updatedAt = Timestamp(millisecondsSince1970: record.updatedAt)
    if let moment = record.cancelledAt {
      cancelled = record.cancelled
      cancelledAt = Timestamp(millisecondsSince1970: moment)
    }
  }
}

extension MigrationFailure {
  init(_ record: MigrationFailureRecord) {
    self.init()
    id = record.receiptId
    reason = record.reason
    message = record.message
    errorCode = record.errorCode
    transactionIds = record.transactionIds
    failedAt = Timestamp(millisecondsSince1970: record.failedAt)
  }
}
