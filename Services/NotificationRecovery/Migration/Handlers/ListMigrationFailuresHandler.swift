import AttributionProtocol
import RedisClient
import ServiceRuntime

/// `ListMigrationFailures`: the receipts of a migration that failed, oldest failure first. A page token is the id of a Redis stream entry.
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
