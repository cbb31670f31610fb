import AttributionProtocol
import RedisClient
import ServiceRuntime

/// `ListRecoveries`: the recoveries that began in the last thirty days, newest first.
struct ListRecoveriesHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.ListRecoveries
  let store: RecoveryStore

  func handle(_ request: ListRecoveriesRequest, _ context: RPCContext) async throws(RPCError) -> ListRecoveriesResponse {
    let limit = Int(request.maxRecoveries ?? 100)
    guard (1...1000).contains(limit) else { throw .invalidArgument(field: "maxRecoveries", "must be 1 to 1000") }
    let token = try PageToken.checked(request.pageToken)
    do throws(RedisError) {
      let page = try await store.list(bundleId: request.bundleId, limit: limit, after: token)
      return ListRecoveriesResponse(recoveries: page.jobs.map { Recovery($0) }, nextPageToken: page.next?.text)
    } catch { throw RPCError(error) }
  }
}
