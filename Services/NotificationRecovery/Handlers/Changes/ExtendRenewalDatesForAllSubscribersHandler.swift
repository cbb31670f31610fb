import AppStore
import AttributionProtocol
import RedisClient
import ServiceRuntime
import WireJSON

/// Apple: Extend Subscription Renewal Dates for All Active Subscribers. It takes hours to days and cannot be undone. If the outcome of a
/// request is unknown, Apple is asked whether it has the request before it is sent again.
struct ExtendRenewalDatesForAllSubscribersHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.ExtendRenewalDatesForAllSubscribers
  let calls: AppStoreCalls
  let records: ExtensionRecords

  func handle(_ request: ExtendRenewalDatesForAllSubscribersRequest, _ context: RPCContext) async throws(RPCError)
    -> ExtendRenewalDatesForAllSubscribersResponse
  {
    let app = try calls.app(request.bundleId)
    // The request must name the environment, because nothing else in it determines one.
    let server = try calls.requiredServer(request.environment, of: app)
    let wanted: RenewalDateExtension
    let body: JSONObject
    let productId = request.productId ?? ""
    do throws(RequestRefusal) {
      wanted = try RenewalDateExtension(
        days: request.extendByDays ?? 0, reasonCode: request.extendReasonCode ?? 0, requestIdentifier: request.requestIdentifier ?? "")
      body = try wanted.massBody(productId: productId, storefronts: request.storefrontCountryCodes)
    } catch { throw RPCError(error) }
    let path = [productId, wanted.requestIdentifier]
    let name = [app.bundleId, server.rawValue, productId, wanted.requestIdentifier.lowercased()]
    return ExtendRenewalDatesForAllSubscribersResponse(
      try await records.alone(name, until: context.deadline) { () async throws(RPCError) in
        try await extend(body, path, name, app, server, context)
      })
  }

  private func extend(
    _ body: JSONObject, _ path: [String], _ name: [String], _ app: DeploymentConfiguration.App, _ server: AppStoreServer,
    _ context: RPCContext
  ) async throws(RPCError) -> AppStoreCalls.Response {
    let isNew: Bool
    do throws(RedisError) { isNew = try await records.beginMass(name) } catch {
      // Without the record, nobody would know later that Apple must be asked first.
      throw RPCError(error)
    }
    if !isNew, let known = try await known(path, app, server, context) { return known }
    do throws(AppStoreCallFailure) {
      return try await calls.ask(
        .extendRenewalDatesForAll, app: app, server: server, body: body, deadline: context.deadline - .seconds(2))
    } catch {
      let failure = RPCError(error, now: WallClock.now())
      guard case .apple(let reason) = error, reason.isOutcomeUnknown else { throw failure }
      if let known = try await known(path, app, server, context) { return known }
      throw failure
    }
  }

  /// The answer of an earlier request that was lost; nil if Apple has no such request.
  private func known(
    _ path: [String], _ app: DeploymentConfiguration.App, _ server: AppStoreServer, _ context: RPCContext
  ) async throws(RPCError) -> AppStoreCalls.Response? {
    do throws(AppStoreCallFailure) {
      let status = try await calls.ask(
        .getRenewalDateExtensionStatus, app: app, server: server, path: path, deadline: context.deadline - .milliseconds(50))
      return AppStoreCalls.Response(
        server: server, body: ["requestIdentifier": status.body["requestIdentifier"] ?? .string(path[1])], decoded: [])
    } catch {
      guard case .apple(let failure) = error, failure.errorCode == AppStoreServerAPIErrorRule.extensionRequestNotFound else {
        throw RPCError(error, now: WallClock.now())
      }
      return nil
    }
  }
}
