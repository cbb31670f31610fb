import AppStore
import AttributionProtocol
import AttributionQueue
import RedisClient
import ServiceRuntime

/// `MigrateReceipts`: reads the transaction ids in receipts and queues them. It returns before the purchases are looked up at Apple, which
/// ``MigrationWork`` does.
struct MigrateReceiptsHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.MigrateReceipts
  let calls: AppStoreCalls
  let deliveries: DeliveryQueue
  let store: MigrationStore
  /// The maximum number of receipts in one call.
  let maxReceipts: Int

  func handle(_ request: MigrateReceiptsRequest, _ context: RPCContext) async throws(RPCError) -> MigrateReceiptsResponse {
    let app = try calls.app(request.bundleId)
    let server = try calls.server(request.environment, of: app)
    guard !request.receipts.isEmpty else { throw .invalidArgument(field: "receipts", "is missing") }
    guard request.receipts.count <= maxReceipts else { throw .invalidArgument(field: "receipts", "has more than \(maxReceipts) items") }
    for (index, receipt) in request.receipts.enumerated() where (receipt.id ?? "").utf8.count > 256 {
      throw .invalidArgument(field: "receipts[\(index)].id", "is longer than 256 bytes")
    }
    // A call that is executed again after a crash gets the same id, so its receipts are added once. Other receipts under a reused
    // idempotency key are another batch.
    let batch = RecoveryID.make([
      "migrate", context.caller, context.idempotencyKey ?? context.requestId, String(decoding: request.json, as: UTF8.self),
    ])
    let id = try MigrationName.checked(request.migrationId) ?? batch
    var tasks: [MigrationTask] = []
    var failures: [MigrationFailureRecord] = []
    var noPurchase = 0
    var results: [MigratedReceipt] = []
    /// For each task, the index of its receipt in the results.
    var resultIndexes: [Int] = []
    for receipt in request.receipts {
      var result = MigratedReceipt(id: receipt.id)
      do throws(ReceiptContents.Failure) {
        let contents = try ReceiptContents(receipt, bundleId: app.bundleId)
        result.originalTransactionIds = contents.originalTransactionIds
        result.transactionIds = contents.originalTransactionIds.isEmpty ? contents.transactionIds : []
        if contents.ids.isEmpty {
          result.state = "no-purchase"
          noPurchase += 1
        } else {
          resultIndexes.append(results.count)
          tasks.append(
            MigrationTask(migrationId: id, bundleId: app.bundleId, server: server, receiptId: receipt.id, ids: contents.ids))
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
    case .ofAnotherApp: throw .failedPrecondition("the migration belongs to another app", reason: "MIGRATION_OF_ANOTHER_APP")
    case .cancelled:
      throw .failedPrecondition("the migration was cancelled; use another migrationId", reason: "MIGRATION_CANCELLED")
    case .added(let isNew):
      for (taskIndex, resultIndex) in resultIndexes.enumerated() { results[resultIndex].state = isNew[taskIndex] ? "queued" : "duplicate" }
    }
    // Known tasks are queued too, because the call that stored them may have ended before it queued them. The idempotency key suppresses a
    // task that is queued already, and `MigrationWork` completes a finished one without a look-up.
    try await queue(tasks)
    return MigrateReceiptsResponse(results: results, migrationId: id)
  }

  /// Queues the tasks concurrently, so that they share Redis' writes to disk.
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
    // If the caller repeats the call with the same idempotency key, the tasks that are missing are queued.
    switch failure {
    case nil: return
    case .backlogFull: throw .unavailable("too many receipts wait", reason: "BACKLOG_FULL", retryAfter: .seconds(5))
    default: throw .unavailable("the queue's store is unavailable", reason: "STORE_UNAVAILABLE")
    }
  }
}
