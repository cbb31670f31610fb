import AppStore
import AttributionProtocol
import RedisClient
import ServiceRuntime
import WireJSON

/// Calls Apple's endpoint Extend Subscription Renewal Dates for All Active Subscribers. Apple needs hours to days for it, and it cannot be
/// undone. If the outcome of a request is unknown, Apple is asked whether it has the request, before it is sent again.
struct ExtendRenewalDatesForAllSubscribersHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.ExtendRenewalDatesForAllSubscribers
  let calls: AppStoreCalls
  let records: ExtensionRecords

  func handle(_ request: ExtendRenewalDatesForAllSubscribersRequest, _ context: RPCContext) async throws(RPCError)
    -> ExtendRenewalDatesForAllSubscribersResponse
  {
    let app = try calls.app(request.bundleId)
    // Nothing else in the request determines the environment, so it must be named.
    let server = try calls.requiredServer(request.environment, of: app)
    let requested: RenewalDateExtension
    let body: JSONObject
    let productId = request.productId ?? ""
    do throws(RequestRefusal) {
      requested = try RenewalDateExtension(
        days: request.extendByDays ?? 0, reasonCode: request.extendReasonCode ?? 0, requestIdentifier: request.requestIdentifier ?? "")
      body = try requested.massBody(productId: productId, storefronts: request.storefrontCountryCodes)
    } catch { throw RPCError(error) }
    let path = [productId, requested.requestIdentifier]
    let name = [app.bundleId, server.rawValue, productId, requested.requestIdentifier.lowercased()]
    return ExtendRenewalDatesForAllSubscribersResponse(
      try await records.runExclusively(name, until: context.deadline) { () async throws(RPCError) in
        try await extend(body, path, name, app, server, context)
      })
  }

  /// Sends the request, unless Apple has it already. `name`: the record's name.
  private func extend(
    _ body: JSONObject, _ path: [String], _ name: [String], _ app: DeploymentConfiguration.App, _ server: AppStoreServer,
    _ context: RPCContext
  ) async throws(RPCError) -> AppStoreCalls.Response {
    let isNew: Bool
    do throws(RedisError) { isNew = try await records.beginMass(name) } catch {
      // The request is not sent: without a record, a repeat would not know that Apple may have it.
      throw RPCError(error)
    }
    if !isNew, let earlier = try await earlierRequest(path, app, server, context) { return earlier }
    do throws(AppStoreServerAPIError) {
      return try await calls.ask(
        .extendRenewalDatesForAll, app: app, server: server, body: body, deadline: context.deadline - .seconds(2))
    } catch {
      let failure = RPCError(error, now: WallClock.now())
      guard error.isOutcomeUnknown else { throw failure }
      if let earlier = try await earlierRequest(path, app, server, context) { return earlier }
      throw failure
    }
  }

  /// Asks Apple for an earlier request, and returns the response in place of the answer that was lost; nil if Apple has no such request.
  private func earlierRequest(
    _ path: [String], _ app: DeploymentConfiguration.App, _ server: AppStoreServer, _ context: RPCContext
  ) async throws(RPCError) -> AppStoreCalls.Response? {
    do throws(AppStoreServerAPIError) {
      let status = try await calls.ask(
        .getRenewalDateExtensionStatus, app: app, server: server, path: path, deadline: context.deadline - .milliseconds(50))
      return AppStoreCalls.Response(
        server: server, body: ["requestIdentifier": status.body["requestIdentifier"] ?? .string(path[1])], decoded: [])
    } catch {
      guard error.errorCode == AppStoreServerAPIErrorRule.extensionRequestNotFound else {
        throw RPCError(error, now: WallClock.now())
      }
      return nil
    }
  }
}
