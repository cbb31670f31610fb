import AttributionProtocol
import RedisClient
import ServiceRuntime

/// `CancelMigration`: cancels a migration. Receipts that wait are not looked up at Apple. Look-ups in progress are finished and counted.
struct CancelMigrationHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.CancelMigration
  let store: MigrationStore

  func handle(_ request: CancelMigrationRequest, _ context: RPCContext) async throws(RPCError) -> CancelMigrationResponse {
    let known = try await store.known(request.migrationId)
    do throws(RedisError) { try await store.cancel(known.id) } catch { throw RPCError(error) }
    return CancelMigrationResponse(migration: Migration(try await store.known(known.id)))
  }
}
