import AppStore
import AttributionProtocol
import ServiceRuntime

/// Apple: Get Transaction Info.
struct GetTransactionInfoHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.GetTransactionInfo
  let calls: AppStoreCalls

  func handle(_ request: GetTransactionInfoRequest, _ context: RPCContext) async throws(RPCError) -> GetTransactionInfoResponse {
    let app = try calls.app(request.bundleId)
    let id = try calls.filled("transactionId", request.transactionId)
    return GetTransactionInfoResponse(
      try await calls.ask(.getTransactionInfo, app: app, server: try calls.server(request.environment, of: app), path: [id], context))
  }
}

/// Apple: Get App Transaction Info.
struct GetAppTransactionInfoHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.GetAppTransactionInfo
  let calls: AppStoreCalls

  func handle(_ request: GetAppTransactionInfoRequest, _ context: RPCContext) async throws(RPCError) -> GetAppTransactionInfoResponse {
    let app = try calls.app(request.bundleId)
    let id = try calls.filled("transactionId", request.transactionId)
    return GetAppTransactionInfoResponse(
      try await calls.ask(.getAppTransactionInfo, app: app, server: try calls.server(request.environment, of: app), path: [id], context))
  }
}

/// Apple: Get All Subscription Statuses.
struct GetSubscriptionStatusesHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.GetSubscriptionStatuses
  let calls: AppStoreCalls

  func handle(_ request: GetSubscriptionStatusesRequest, _ context: RPCContext) async throws(RPCError) -> GetSubscriptionStatusesResponse {
    let app = try calls.app(request.bundleId)
    let id = try calls.filled("transactionId", request.transactionId)
    guard request.status.allSatisfy({ (1...5).contains($0) }) else { throw .invalidArgument(field: "status", "must be 1 to 5") }
    return GetSubscriptionStatusesResponse(
      try await calls.ask(
        .getAllSubscriptionStatuses, app: app, server: try calls.server(request.environment, of: app), path: [id],
        query: request.status.map { ("status", String($0)) }, context))
  }
}

/// Apple: Get Transaction History, version 2.
struct GetTransactionHistoryHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.GetTransactionHistory
  let calls: AppStoreCalls

  func handle(_ request: GetTransactionHistoryRequest, _ context: RPCContext) async throws(RPCError) -> GetTransactionHistoryResponse {
    let app = try calls.app(request.bundleId)
    let id = try calls.filled("transactionId", request.transactionId)
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
      try await calls.ask(
        .getTransactionHistory, app: app, server: try calls.server(request.environment, of: app), path: [id], query: items, context))
  }
}

/// Apple: Look Up Order ID; production only. An unknown order id is not an error: the answer's `status` says so.
struct LookUpOrderHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.LookUpOrder
  let calls: AppStoreCalls

  func handle(_ request: LookUpOrderRequest, _ context: RPCContext) async throws(RPCError) -> LookUpOrderResponse {
    let app = try calls.app(request.bundleId)
    let id = try calls.filled("orderId", request.orderId)
    guard try calls.server(request.environment, of: app) != .sandbox else {
      throw .invalidArgument(field: "environment", "orders are known in production only")
    }
    return LookUpOrderResponse(try await calls.ask(.lookUpOrderID, app: app, server: .production, path: [id], context))
  }
}

/// Apple: Get Refund History, version 2.
struct GetRefundHistoryHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.GetRefundHistory
  let calls: AppStoreCalls

  func handle(_ request: GetRefundHistoryRequest, _ context: RPCContext) async throws(RPCError) -> GetRefundHistoryResponse {
    let app = try calls.app(request.bundleId)
    let id = try calls.filled("transactionId", request.transactionId)
    guard request.revision != "" else { throw .invalidArgument(field: "revision", "must not be empty") }
    return GetRefundHistoryResponse(
      try await calls.ask(
        .getRefundHistory, app: app, server: try calls.server(request.environment, of: app), path: [id],
        query: request.revision.map { [("revision", $0)] } ?? [], context))
  }
}

/// Apple: Get Status of Subscription Renewal Date Extensions.
struct GetRenewalDateExtensionStatusHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.GetRenewalDateExtensionStatus
  let calls: AppStoreCalls

  func handle(_ request: GetRenewalDateExtensionStatusRequest, _ context: RPCContext) async throws(RPCError)
    -> GetRenewalDateExtensionStatusResponse
  {
    let app = try calls.app(request.bundleId)
    let server = try calls.requiredServer(request.environment, of: app)
    let path = [
      try calls.filled("productId", request.productId), try calls.filled("requestIdentifier", request.requestIdentifier),
    ]
    do throws(RequestRefusal) { try RenewalDateExtension.checkMassIdentifier(path[1]) } catch { throw RPCError(error) }
    return GetRenewalDateExtensionStatusResponse(
      try await calls.ask(.getRenewalDateExtensionStatus, app: app, server: server, path: path, context))
  }
}
