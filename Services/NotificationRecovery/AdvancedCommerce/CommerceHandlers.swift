import AppStore
import AttributionProtocol
import AttributionQueue
import RedisClient
import ServiceRuntime
import WireJSON

/// The common fields of the requests of the six calls.
protocol CommerceRequestMessage: RPCMessage {
  var bundleId: String? { get }
  var environment: String? { get }
  var transactionId: String? { get }
  var request: JSONObject? { get }
}

/// Apple's response to one of the six calls.
protocol CommerceResponseMessage: AppleResponse {
  var repeated: Bool? { get set }
}

extension CommerceResponseMessage {
  init(_ outcome: CommerceCalls.Outcome) {
    self.init(outcome.response)
    if outcome.isRepeated { repeated = true }
  }
}

extension CommerceCalls {
  func respond<Response: CommerceResponseMessage>(
    _ operation: AdvancedCommerceRequest.Operation, _ request: some CommerceRequestMessage, _ context: RPCContext
  ) async throws(RPCError) -> Response {
    Response(
      try await perform(
        operation, bundleId: request.bundleId, environment: request.environment, transactionId: request.transactionId,
        body: request.request,
        context))
  }
}

extension ChangeAdvancedCommerceMetadataRequest: CommerceRequestMessage {}
extension ChangeAdvancedCommerceMetadataResponse: CommerceResponseMessage {}
extension MigrateToAdvancedCommerceRequest: CommerceRequestMessage {}
extension MigrateToAdvancedCommerceResponse: CommerceResponseMessage {}
extension ChangeAdvancedCommercePriceRequest: CommerceRequestMessage {}
extension ChangeAdvancedCommercePriceResponse: CommerceResponseMessage {}
extension CancelAdvancedCommerceSubscriptionRequest: CommerceRequestMessage {}
extension CancelAdvancedCommerceSubscriptionResponse: CommerceResponseMessage {}
extension RevokeAdvancedCommerceSubscriptionRequest: CommerceRequestMessage {}
extension RevokeAdvancedCommerceSubscriptionResponse: CommerceResponseMessage {}
extension RequestAdvancedCommerceRefundRequest: CommerceRequestMessage {}
extension RequestAdvancedCommerceRefundResponse: CommerceResponseMessage {}

/// Apple: Change Subscription Metadata.
struct ChangeAdvancedCommerceMetadataHandler: RPCHandler {
  typealias Method = AdvancedCommerceService.ChangeAdvancedCommerceMetadata
  let commerce: CommerceCalls

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try await commerce.respond(.changeMetadata, request, context)
  }
}

/// Apple: Migrate a Subscription to Advanced Commerce API.
struct MigrateToAdvancedCommerceHandler: RPCHandler {
  typealias Method = AdvancedCommerceService.MigrateToAdvancedCommerce
  let commerce: CommerceCalls

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try await commerce.respond(.migrate, request, context)
  }
}

/// Apple: Change Subscription Price.
struct ChangeAdvancedCommercePriceHandler: RPCHandler {
  typealias Method = AdvancedCommerceService.ChangeAdvancedCommercePrice
  let commerce: CommerceCalls

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try await commerce.respond(.changePrice, request, context)
  }
}

/// Apple: Cancel a Subscription.
struct CancelAdvancedCommerceSubscriptionHandler: RPCHandler {
  typealias Method = AdvancedCommerceService.CancelAdvancedCommerceSubscription
  let commerce: CommerceCalls

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try await commerce.respond(.cancel, request, context)
  }
}

/// Apple: Revoke Subscription.
struct RevokeAdvancedCommerceSubscriptionHandler: RPCHandler {
  typealias Method = AdvancedCommerceService.RevokeAdvancedCommerceSubscription
  let commerce: CommerceCalls

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try await commerce.respond(.revoke, request, context)
  }
}

/// Apple: Request Transaction Refund.
struct RequestAdvancedCommerceRefundHandler: RPCHandler {
  typealias Method = AdvancedCommerceService.RequestAdvancedCommerceRefund
  let commerce: CommerceCalls

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    try await commerce.respond(.requestRefund, request, context)
  }
}

/// The outcome of a call, and the notifications that name it.
struct GetAdvancedCommerceCallHandler: RPCHandler {
  typealias Method = AdvancedCommerceService.GetAdvancedCommerceCall
  let commerce: CommerceCalls
  let notifications: CommerceNotifications

  func handle(_ request: GetAdvancedCommerceCallRequest, _ context: RPCContext) async throws(RPCError) -> GetAdvancedCommerceCallResponse {
    let app = try commerce.calls.app(request.bundleId)
    let server = try commerce.calls.server(request.environment, of: app)
    let reference = try RetentionCalls.checked { () throws(RequestRefusal) in
      try RetentionParameterRules.identifier(request.requestReferenceId, "requestReferenceId")
    }
    let record: CommerceRecord?
    var entries: [CommerceNotifications.Entry]
    var ofPurchase: [CommerceNotifications.Entry] = []
    do throws(RedisError) {
      record = try await commerce.store.record(app.bundleId, reference)
      entries = try await notifications.list(bundleId: app.bundleId, .reference(reference))
      if let record { ofPurchase = try await changes(of: record) }
    } catch { throw RPCError(error) }
    guard record?.isOf(server) ?? !entries.isEmpty else {
      throw .notFound("no call was made under this requestReferenceId, and no notification names it", field: "requestReferenceId")
    }
    var call =
      record.map { AdvancedCommerceCall($0) }
      ?? AdvancedCommerceCall(requestReferenceId: reference, bundleId: app.bundleId, state: "unknown")
    let named = Set(entries.map(\.uuid))
    entries += ofPurchase.filter { !named.contains($0.uuid) }
    entries.sort { ($0.signedDate, $0.uuid) < ($1.signedDate, $1.uuid) }
    call.notifications = entries.map { AdvancedCommerceNotification($0, isNamed: named.contains($0.uuid)) }
    return GetAdvancedCommerceCallResponse(call: call)
  }

  /// The notifications about the same purchase that the call may have caused. Those that name another call are left out; the request with
  /// which the app began the subscription is not a call.
  private func changes(of record: CommerceRecord) async throws(RedisError) -> [CommerceNotifications.Entry] {
    let entries = try await notifications.list(bundleId: record.bundleId, .purchase(record.purchase ?? record.transactionId)).filter {
      record.mayHaveCaused($0)
    }
    let references = Set(entries.flatMap(\.references)).subtracting([record.reference])
    let others = try await ConcurrentQueries.all(Array(references)) { (reference) async throws(RedisError) in
      try await commerce.store.record(record.bundleId, reference) == nil ? nil : reference
    }
    return entries.filter { $0.references.isDisjoint(with: others.compactMap(\.self)) }
  }
}

extension CommerceRecord {
  /// True for a notification about the call's kind of change that was signed after the call began, unless Apple refused the call.
  func mayHaveCaused(_ notification: CommerceNotifications.Entry) -> Bool {
    let change: CommerceChange
    switch AdvancedCommerceRequest.Operation(rawValue: operation) {
    case .changeMetadata: change = .metadata
    case .migrate: change = .migration
    case .changePrice: change = .price
    case .cancel, .revoke, .requestRefund, nil: return false
    }
    return state != .refused && CommerceChange(notificationType: notification.type) == change
      && notification.signedDate >= startedAt - AdvancedCommerceRequest.clockTolerance
  }
}

/// The calls, newest first.
struct ListAdvancedCommerceCallsHandler: RPCHandler {
  typealias Method = AdvancedCommerceService.ListAdvancedCommerceCalls
  let store: CommerceStore

  func handle(_ request: ListAdvancedCommerceCallsRequest, _ context: RPCContext) async throws(RPCError)
    -> ListAdvancedCommerceCallsResponse
  {
    let limit = Int(request.maxCalls ?? 100)
    guard (1...1000).contains(limit) else { throw .invalidArgument(field: "maxCalls", "must be 1 to 1000") }
    let token = try PageToken.checked(request.pageToken)
    do throws(RedisError) {
      let page = try await store.list(bundleId: request.bundleId, limit: limit, after: token)
      return ListAdvancedCommerceCallsResponse(
        calls: page.calls.map { record in
          // Answers are left out, because a page of them would be many megabytes.
          var call = AdvancedCommerceCall(record)
          call.response = nil
          call.decoded = []
          return call
        }, nextPageToken: page.next?.text)
    } catch { throw RPCError(error) }
  }
}

extension AdvancedCommerceCall {
  init(_ record: CommerceRecord) {
    self.init()
    requestReferenceId = record.reference
    bundleId = record.bundleId
    environment = record.environment
    operation = record.operation
    transactionId = record.transactionId
    state = record.state.rawValue
    startedAt = Timestamp(millisecondsSince1970: record.startedAt)
    completedAt = record.completedAt.map { Timestamp(millisecondsSince1970: $0) }
    response = record.response
    decoded = record.decoded
    lastError = record.lastError
    errorCode = record.errorCode
    errorName = record.errorCode.flatMap(AppStoreServerErrorName.name)
  }
}

extension AdvancedCommerceNotification {
  init(_ entry: CommerceNotifications.Entry, isNamed: Bool) {
    self.init()
    eventId = entry.eventId
    notificationType = entry.type
    subtype = entry.subtype
    notificationUuid = entry.uuid
    signedDate = Timestamp(millisecondsSince1970: entry.signedDate)
    joinedBy = isNamed ? "requestReferenceId" : "purchase"
  }
}

/// All methods of the service.
enum CommerceHandlers {
  static func all(_ calls: AppStoreCalls, redis: RedisClient, notifications: CommerceNotifications) -> [any RPCHandler] {
    let commerce = CommerceCalls(calls: calls, store: CommerceStore(redis: redis))
    return [
      ChangeAdvancedCommerceMetadataHandler(commerce: commerce),
      MigrateToAdvancedCommerceHandler(commerce: commerce),
      ChangeAdvancedCommercePriceHandler(commerce: commerce),
      CancelAdvancedCommerceSubscriptionHandler(commerce: commerce),
      RevokeAdvancedCommerceSubscriptionHandler(commerce: commerce),
      RequestAdvancedCommerceRefundHandler(commerce: commerce),
      GetAdvancedCommerceCallHandler(commerce: commerce, notifications: notifications),
      ListAdvancedCommerceCallsHandler(store: commerce.store),
    ]
  }
}
