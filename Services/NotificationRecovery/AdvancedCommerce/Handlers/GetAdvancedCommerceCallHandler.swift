import AppStore
import AttributionProtocol
import AttributionQueue
import RedisClient
import ServiceRuntime

/// `GetAdvancedCommerceCall`: the outcome of a call, the notifications that name it, and those that it may have caused.
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
    guard record?.mayBelong(to: server) ?? !entries.isEmpty else {
      throw .notFound("no call was made with this requestReferenceId, and no notification names it", field: "requestReferenceId")
    }
    var call =
      record.map { AdvancedCommerceCall($0) }
      ?? AdvancedCommerceCall(requestReferenceId: reference, bundleId: app.bundleId, state: "unknown")
    let named = Set(entries.map(\.uuid))
    entries += ofPurchase.filter { !named.contains($0.uuid) }
    entries.sort { ($0.signedDate, $0.uuid) < ($1.signedDate, $1.uuid) }
    call.notifications = entries.map { AdvancedCommerceNotification($0, namesRequest: named.contains($0.uuid)) }
    return GetAdvancedCommerceCallResponse(call: call)
  }

  /// The notifications about the same purchase that the call may have caused, except those that name another recorded call. A notification
  /// that names a request which is no recorded call stays, such as the request with which the app began the subscription.
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
  /// True if a notification reports the kind of change that the call requested and was signed after the call began, unless Apple refused
  /// the call.
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
