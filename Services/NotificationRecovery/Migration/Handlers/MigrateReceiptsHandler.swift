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
