import AppStore
import AttributionProtocol
import ServiceRuntime

/// Calls Apple's endpoint Get Transaction History, version 2.
struct GetTransactionHistoryHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.GetTransactionHistory
  let calls: AppStoreCalls

  func handle(_ request: GetTransactionHistoryRequest, _ context: RPCContext) async throws(RPCError) -> GetTransactionHistoryResponse {
    let app = try calls.app(request.bundleId)
    let id = try calls.purchaseId("transactionId", request.transactionId)
    var query = TransactionHistoryQuery()
    query.revision = request.revision
    query.startDate = request.startDate
    query.endDate = request.endDate
    query.productIds = request.productId
    query.productTypes = request.productType
    query.subscriptionGroupIdentifiers = request.subscriptionGroupIdentifier
    query.inAppOwnershipType = request.inAppOwnershipType
    if let sort = request.sort {
      guard let known = TransactionHistoryQuery.Sort(rawValue: sort) else {
        throw .invalidArgument(field: "sort", "must be ASCENDING or DESCENDING")
      }
      query.sort = known
    }
    query.revoked = request.revoked
    let items: [(String, String)]
    do throws(RequestRefusal) { items = try query.items() } catch { throw RPCError(error) }
    return GetTransactionHistoryResponse(
      lookedUp: try await calls.ask(
        .getTransactionHistory, app: app, server: try calls.server(request.environment, of: app), path: [id], query: items, context))
  }
}
