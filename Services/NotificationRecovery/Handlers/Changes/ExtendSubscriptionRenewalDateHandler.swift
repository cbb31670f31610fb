import AppStore
import AttributionProtocol
import AttributionQueue
import RedisClient
import ServiceRuntime
import WireJSON

/// Apple: Extend a Subscription Renewal Date. It cannot be undone, and Apple allows two in a year. If the outcome of a request is unknown,
/// the subscription's end is looked up before anything is sent again.
struct ExtendSubscriptionRenewalDateHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.ExtendSubscriptionRenewalDate
  let calls: AppStoreCalls
  let records: ExtensionRecords

  func handle(_ request: ExtendSubscriptionRenewalDateRequest, _ context: RPCContext) async throws(RPCError)
    -> ExtendSubscriptionRenewalDateResponse
  {
    let app = try calls.app(request.bundleId)
    let id = try calls.filled("originalTransactionId", request.originalTransactionId)
    let wanted: RenewalDateExtension
    do throws(RequestRefusal) {
      wanted = try RenewalDateExtension(
        days: request.extendByDays ?? 0, reasonCode: request.extendReasonCode ?? 0, requestIdentifier: request.requestIdentifier ?? "")
    } catch { throw RPCError(error) }
    let server = try calls.server(request.environment, of: app)
    return ExtendSubscriptionRenewalDateResponse(
      try await records.alone([app.bundleId, id, wanted.requestIdentifier], until: context.deadline) { () async throws(RPCError) in
        // Looked up while no other call of that name can change it.
        try await extend(id, wanted, try await end(of: id, app, server, context), app, context)
      })
  }

  private func extend(
    _ id: String, _ wanted: RenewalDateExtension, _ now: End, _ app: DeploymentConfiguration.App, _ context: RPCContext
  ) async throws(RPCError) -> AppStoreCalls.Response {
    // Named by the server that has the subscription, because callers may or may not name the environment.
    let name = [app.bundleId, now.server.rawValue, id, wanted.requestIdentifier]
    let note: ExtensionRecords.Note
    do throws(RedisError) { note = try await records.begin(name, now.subscriptionEnd) } catch {
      // Without the record, nobody would know later whether it was done.
      throw RPCError(error)
    }
    if !note.isNew, let done = try await done(wanted, since: note.end, now, app, context) { return Self.response(id, done) }
    do throws(AppStoreCallFailure) {
      return try await calls.ask(
        .extendRenewalDate, app: app, server: now.server, path: [id], body: wanted.body, deadline: context.deadline - .seconds(2))
    } catch {
      guard case .apple(let failure) = error, failure.isOutcomeUnknown else {
        // A refused call has done nothing. The outcome of an earlier call is still unknown.
        if note.isNew { try? await records.forget(name) }
        throw RPCError(error, now: WallClock.now())
      }
      let after = try await end(of: id, app, now.server, context)
      if let done = try await done(wanted, since: note.end, after, app, context) { return Self.response(id, done) }
      throw RPCError(error, now: WallClock.now())
    }
  }

  /// The extended period, if the recorded period has moved by the requested time. A renewal is another period.
  private func done(
    _ wanted: RenewalDateExtension, since before: SubscriptionEnd, _ now: End, _ app: DeploymentConfiguration.App,
    _ context: RPCContext
  ) async throws(RPCError) -> End? {
    var period = now
    if let transactionId = before.transactionId, transactionId != now.subscriptionEnd.transactionId {
      let response = try await calls.ask(.getTransactionInfo, app: app, server: now.server, path: [transactionId], context)
      guard let found = response.decoded.first.flatMap({ End(server: now.server, transaction: $0) }) else { return nil }
      period = found
    }
    return wanted.isDone(from: before, to: period.subscriptionEnd) ? period : nil
  }

  /// A period of a subscription, as Apple reports it.
  private struct End {
    let server: AppStoreServer
    let subscriptionEnd: SubscriptionEnd
    let transaction: JSONObject

    /// Nil for a transaction without an end.
    init?(server: AppStoreServer, transaction: JSONObject) {
      guard let date = transaction["expiresDate"]?.int64Value else { return nil }
      self.server = server
      self.transaction = transaction
      subscriptionEnd = SubscriptionEnd(expiresDate: date, transactionId: transaction["transactionId"]?.stringValue)
    }
  }

  /// The current end of a subscription.
  private func end(
    of id: String, _ app: DeploymentConfiguration.App, _ server: AppStoreServer?, _ context: RPCContext
  ) async throws(RPCError) -> End {
    let response = try await calls.ask(.getAllSubscriptionStatuses, app: app, server: server, path: [id], context)
    for (original, status) in StatusObservation.entries(in: response.body) where original == id {
      if let end = response.payload(of: status.signedTransactionInfo).flatMap({ End(server: response.server, transaction: $0) }) {
        return end
      }
    }
    throw .notFound("the customer has no subscription of this original transaction id", field: "originalTransactionId")
  }

  /// The answer of an earlier request that was lost.
  private static func response(_ id: String, _ end: End) -> AppStoreCalls.Response {
    var body: JSONObject = ["originalTransactionId": .string(id)]
    body["webOrderLineItemId"] = end.transaction["webOrderLineItemId"]
    body["success"] = true
    body["effectiveDate"] = .integer(end.subscriptionEnd.expiresDate)
    return AppStoreCalls.Response(server: end.server, body: body, decoded: [end.transaction])
  }
}
