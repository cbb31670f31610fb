import AttributionProtocol
import RedisClient
import ServiceRuntime

/// `GetMigration`: the progress of a migration.
struct GetMigrationHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.GetMigration
  let store: MigrationStore

  func handle(_ request: GetMigrationRequest, _ context: RPCContext) async throws(RPCError) -> GetMigrationResponse {
    GetMigrationResponse(migration: Migration(try await store.known(request.migrationId)))
  }
}
