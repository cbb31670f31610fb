import AppStore
import AttributionProtocol
import AttributionQueue
import RedisClient
import ServiceRuntime
import WireJSON

/// Apple: Extend a Subscription Renewal Date. Cannot be undone, and Apple allows two in a year: when it is not known what became of a
/// request, the subscription's end is looked up before anything is tried again.
struct ExtendSubscriptionRenewalDateHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.ExtendSubscriptionRenewalDate
  let calls: AppStoreCalls
  let attempts: ExtensionAttempts

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
    let name = [app.bundleId, request.environment ?? "", id, wanted.requestIdentifier]
    let now = try await end(of: id, app, try calls.server(request.environment, of: app), context)
    let before: Int64
    do throws(RedisError) { before = try await attempts.begin(name, expiresDate: now.expiresDate) } catch {
      // Without the note nobody could tell later whether it was done.
      throw RPCError(error)
    }
    if Self.isExtended(from: before, to: now.expiresDate, wanted) { return ExtendSubscriptionRenewalDateResponse(Self.done(id, now)) }
    do throws(AppStoreCallFailure) {
      let answer = try await calls.ask(
        .extendRenewalDate, app: app, server: now.server, path: [id], body: wanted.body, deadline: context.deadline - .seconds(2))
      return ExtendSubscriptionRenewalDateResponse(answer)
    } catch {
      guard case .apple(let failure) = error, failure.classification == .server else {
        // Refused: nothing was done, and the same name may be used again.
        try? await attempts.forget(name)
        throw RPCError(error, now: WallClock.now())
      }
      let after = try await end(of: id, app, now.server, context)
      if Self.isExtended(from: now.expiresDate, to: after.expiresDate, wanted) {
        return ExtendSubscriptionRenewalDateResponse(Self.done(id, after))
      }
      throw RPCError(error, now: WallClock.now())
    }
  }

  /// Whether the end has moved by as much as was asked for, but for a change of the clock: a renewal moves it by a period.
  private static func isExtended(from before: Int64, to after: Int64, _ wanted: RenewalDateExtension) -> Bool {
    abs(after - before - Int64(wanted.days) * 86_400_000) <= 7_200_000
  }

  /// Where a subscription ends now, by Apple's word.
  private struct End {
    let server: AppStoreServer
    let expiresDate: Int64
    let webOrderLineItemId: String?
    let decoded: [JSONObject]
  }

  private func end(
    of id: String, _ app: DeploymentConfiguration.App, _ server: AppStoreServer?, _ context: RPCContext
  ) async throws(RPCError) -> End {
    let answer = try await calls.ask(.getAllSubscriptionStatuses, app: app, server: server, path: [id], context)
    for (original, status) in StatusObservation.answers(in: answer.response) where original == id {
      guard let transaction = answer.payload(of: status.signedTransactionInfo), let date = transaction["expiresDate"]?.int64Value else {
        continue
      }
      return End(
        server: answer.server, expiresDate: date, webOrderLineItemId: transaction["webOrderLineItemId"]?.stringValue,
        decoded: [transaction])
    }
    throw .notFound("the customer has no subscription of this original transaction id", field: "originalTransactionId")
  }

  /// What Apple would have answered, had its answer come.
  private static func done(_ id: String, _ end: End) -> AppStoreCalls.Answer {
    var response: JSONObject = ["originalTransactionId": .string(id)]
    response["webOrderLineItemId"] = end.webOrderLineItemId.map { .string($0) }
    response["success"] = true
    response["effectiveDate"] = .integer(end.expiresDate)
    return AppStoreCalls.Answer(server: end.server, response: response, decoded: end.decoded)
  }
}

/// Where subscriptions ended before an extension was asked for: what tells later whether it was done.
struct ExtensionAttempts: Sendable {
  /// Longer than anybody repeats a request, seconds.
  static let keptSeconds: Int64 = 30 * 86_400

  let redis: RedisClient

  /// Notes an extension that is about to be asked for; answers where the subscription ended when it was first.
  func begin(_ name: [String], expiresDate: Int64) async throws(RedisError) -> Int64 {
    let key = RedisArgument.string(Self.key(name))
    try await redis.send(["SET", key, .integer(expiresDate), "NX", "EX", .integer(Self.keptSeconds)])
    return try await redis.send(["GET", key]).integer ?? expiresDate
  }

  func forget(_ name: [String]) async throws(RedisError) { try await redis.send(["DEL", .string(Self.key(name))]) }

  private static func key(_ name: [String]) -> String {
    let id = RecoveryID.make(["extension"] + name)
    return Keys.own("recovery", "extension:\(id)", shardOf: id)
  }
}
