import AppStore
import AttributionProtocol
import AttributionQueue
import RedisClient
import ServiceRuntime

/// Calls Apple's endpoint Send Consumption Information. It answers a `CONSUMPTION_REQUEST`, which verifier has stored or whose time the
/// caller states. Without such a request, nothing about the customer is sent.
struct SendConsumptionInformationHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.SendConsumptionInformation
  let calls: AppStoreCalls
  let requests: ConsumptionRequests

  /// How far a caller's clock may be ahead, milliseconds.
  private static let clockMargin: Int64 = 60_000

  func handle(_ request: SendConsumptionInformationRequest, _ context: RPCContext) async throws(RPCError)
    -> SendConsumptionInformationResponse
  {
    let app = try calls.app(request.bundleId)
    let id = try calls.purchaseId("transactionId", request.transactionId)
    guard let body = request.consumption else { throw .invalidArgument(field: "consumption", "is missing") }
    let server = try calls.server(request.environment, of: app)
    let information: ConsumptionInformation
    do throws(RequestRefusal) {
      switch request.version ?? 2 {
      case 1: information = try ConsumptionInformation(version1: body)
      case 2: information = try ConsumptionInformation(version2: body)
      default: throw RequestRefusal(field: "version", "must be 1 or 2")
      }
    } catch { throw Self.refused(error) }
    let stored = try await newestRequest(for: id, app, server)
    try checkTime(stored?.entry.signedDate, stated: request.requestedAt?.millisecondsSince1970, now: WallClock.now())
    if let type = stored?.entry.productType {
      do throws(RequestRefusal) { try information.check(productType: type) } catch { throw Self.refused(error) }
    }
    return SendConsumptionInformationResponse(
      try await calls.ask(
        information.endpoint, app: app, server: server ?? stored?.server, path: [id], body: information.body, context))
  }

  /// The error for information that Apple would refuse. All fields but the version are those of `consumption`.
  private static func refused(_ refusal: RequestRefusal) -> RPCError {
    .invalidArgument(field: refusal.field == "version" ? refusal.field : "consumption." + refusal.field, refusal.reason)
  }

  /// The newest stored request about a transaction, and the server that sent it; nil if none is stored. If `server` is nil, the requests of
  /// all servers of the app are searched.
  private func newestRequest(
    for id: String, _ app: DeploymentConfiguration.App, _ server: AppStoreServer?
  ) async throws(RPCError) -> (server: AppStoreServer, entry: ConsumptionRequests.Entry)? {
    let servers = server.map { [$0] } ?? app.environments.compactMap(AppStoreServer.init(rawValue:))
    var newest: (server: AppStoreServer, entry: ConsumptionRequests.Entry)?
    do throws(RedisError) {
      for server in servers {
        guard let entry = try await requests.newest(bundleId: app.bundleId, environment: server.rawValue, transactionId: id) else {
          continue
        }
        if let known = newest, known.entry.signedDate >= entry.signedDate { continue }
        newest = (server, entry)
      }
    } catch { throw RPCError(error) }
    return newest
  }

  /// Throws unless there is a request that may still be answered. Times are milliseconds since 1970.
  ///
  /// - Parameters:
  ///   - stored: the time of the newest stored request.
  ///   - stated: the time of the request that the caller states.
  private func checkTime(_ stored: Int64?, stated: Int64?, now: Int64) throws(RPCError) {
    if let stated, stated > now + Self.clockMargin { throw .invalidArgument(field: "requestedAt", "lies in the future") }
    guard let requestedAt = [stored, stated].compactMap({ $0 }).max() else {
      throw .failedPrecondition(
        "no CONSUMPTION_REQUEST for this transaction was received; state its signedDate in requestedAt if your system has received one",
        reason: "CONSUMPTION_REQUEST_UNKNOWN")
    }
    guard ConsumptionRequestRule.isOpen(requestedAt: requestedAt, now: now) else {
      throw .failedPrecondition("the CONSUMPTION_REQUEST is older than twelve hours", reason: "CONSUMPTION_REQUEST_TOO_OLD")
    }
  }
}
