import AppStore
import AttributionProtocol
import AttributionQueue
import RedisClient
import ServiceRuntime
import WireJSON

/// Calls Apple's endpoint Extend a Subscription Renewal Date. An extension cannot be undone, and Apple allows two in a year. The extension
/// is recorded before it is requested (``ExtensionRecords``). If the outcome of a request is unknown, the subscription is looked up before
/// the request is sent again.
struct ExtendSubscriptionRenewalDateHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.ExtendSubscriptionRenewalDate
  let calls: AppStoreCalls
  let records: ExtensionRecords

  func handle(_ request: ExtendSubscriptionRenewalDateRequest, _ context: RPCContext) async throws(RPCError)
    -> ExtendSubscriptionRenewalDateResponse
  {
    let app = try calls.app(request.bundleId)
    let id = try calls.purchaseId("originalTransactionId", request.originalTransactionId)
    let requested: RenewalDateExtension
    do throws(RequestRefusal) {
      requested = try RenewalDateExtension(
        days: request.extendByDays ?? 0, reasonCode: request.extendReasonCode ?? 0, requestIdentifier: request.requestIdentifier ?? "")
    } catch { throw RPCError(error) }
    let server = try calls.server(request.environment, of: app)
    return ExtendSubscriptionRenewalDateResponse(
      try await records.runExclusively([app.bundleId, id, requested.requestIdentifier], until: context.deadline) {
        () async throws(RPCError) in
        // The period is looked up inside, where no other call can make the same extension.
        try await extend(id, requested, try await currentPeriod(of: id, app, server, context), app, context)
      })
  }

  /// Requests an extension, unless an earlier call has made it. `current`: the subscription's period before the request.
  private func extend(
    _ id: String, _ requested: RenewalDateExtension, _ current: Period, _ app: DeploymentConfiguration.App, _ context: RPCContext
  ) async throws(RPCError) -> AppStoreCalls.Response {
    // The name contains the server that has the subscription, because a caller need not name the environment.
    let name = [app.bundleId, current.server.rawValue, id, requested.requestIdentifier]
    let record: ExtensionRecords.Record
    do throws(RedisError) { record = try await records.begin(name, current.end) } catch {
      // The request is not sent: without a record, a repeat could not find out whether the extension was made.
      throw RPCError(error)
    }
    if !record.isNew, let extended = try await extendedPeriod(requested, since: record.end, current, app, context) {
      return Self.response(id, extended)
    }
    do throws(AppStoreServerAPIError) {
      return try await calls.ask(
        .extendRenewalDate, app: app, server: current.server, path: [id], body: requested.body, deadline: context.deadline - .seconds(2))
    } catch {
      guard error.isOutcomeUnknown else {
        // Apple refused this call, so it extended nothing. The record of an earlier call stays, because that call's outcome is unknown.
        if record.isNew { try? await records.forget(name) }
        throw RPCError(error, now: WallClock.now())
      }
      let after = try await currentPeriod(of: id, app, current.server, context)
      if let extended = try await extendedPeriod(requested, since: record.end, after, app, context) { return Self.response(id, extended) }
      throw RPCError(error, now: WallClock.now())
    }
  }

  /// The recorded period with its present end, if this end was moved by the requested time; otherwise nil. If the subscription was renewed
  /// since, the recorded period is not the current one and is looked up.
  private func extendedPeriod(
    _ requested: RenewalDateExtension, since before: SubscriptionEnd, _ current: Period, _ app: DeploymentConfiguration.App,
    _ context: RPCContext
  ) async throws(RPCError) -> Period? {
    var period = current
    if let transactionId = before.transactionId, transactionId != current.end.transactionId {
      let response = try await calls.ask(.getTransactionInfo, app: app, server: current.server, path: [transactionId], context)
      guard let recorded = response.decoded.first.flatMap({ Period(server: current.server, transaction: $0) }) else { return nil }
      period = recorded
    }
    return requested.isDone(from: before, to: period.end) ? period : nil
  }

  /// A period of a subscription, as Apple reports it.
  private struct Period {
    let server: AppStoreServer
    let end: SubscriptionEnd
    /// The payload of the transaction that paid for the period.
    let transaction: JSONObject

    /// Nil for a transaction without an `expiresDate`.
    init?(server: AppStoreServer, transaction: JSONObject) {
      guard let date = transaction["expiresDate"]?.int64Value else { return nil }
      self.server = server
      self.transaction = transaction
      end = SubscriptionEnd(expiresDate: date, transactionId: transaction["transactionId"]?.stringValue)
    }
  }

  /// Looks up the current period of a subscription. Throws `NOT_FOUND` if the customer does not have the subscription.
  private func currentPeriod(
    of id: String, _ app: DeploymentConfiguration.App, _ server: AppStoreServer?, _ context: RPCContext
  ) async throws(RPCError) -> Period {
    let response = try await calls.ask(.getAllSubscriptionStatuses, app: app, server: server, path: [id], context)
    for (original, status) in StatusObservation.entries(in: response.body) where original == id {
      if let period = response.payload(of: status.signedTransactionInfo).flatMap({ Period(server: response.server, transaction: $0) }) {
        return period
      }
    }
    throw .notFound("the customer has no subscription with this original transaction id", field: "originalTransactionId")
  }

  /// The response in place of Apple's answer to an earlier request, which was lost.
  private static func response(_ id: String, _ period: Period) -> AppStoreCalls.Response {
    var body: JSONObject = ["originalTransactionId": .string(id)]
    body["webOrderLineItemId"] = period.transaction["webOrderLineItemId"]
    body["success"] = true
    body["effectiveDate"] = .integer(period.end.expiresDate)
    return AppStoreCalls.Response(server: period.server, body: body, decoded: [period.transaction])
  }
}
