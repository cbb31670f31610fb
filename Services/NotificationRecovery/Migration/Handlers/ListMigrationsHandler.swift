import AttributionProtocol
import RedisClient
import ServiceRuntime

/// `ListMigrations`: the migrations that are still stored, newest first.
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
