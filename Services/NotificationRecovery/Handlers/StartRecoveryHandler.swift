import AppStore
import AttributionProtocol
import RedisClient
import ServiceRuntime

/// Starts a recovery and answers at once; the runner of any instance does the work.
struct StartRecoveryHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.StartRecovery
  let calls: AppStoreCalls
  let store: RecoveryStore
  /// Recoveries of one app that may run and wait.
  let most: Int

  func handle(_ request: StartRecoveryRequest, _ context: RPCContext) async throws(RPCError) -> StartRecoveryResponse {
    let app = try calls.app(request.bundleId)
    let server = try calls.requiredServer(request.environment, of: app)
    guard let start = request.startDate else { throw .invalidArgument(field: "startDate", "is missing") }
    guard let end = request.endDate else { throw .invalidArgument(field: "endDate", "is missing") }
    let job: RecoveryJob
    do throws(RequestRefusal) {
      job = try RecoveryJob(
        // A call that is executed again, since its instance died, names the same job; another one under a key that is used again does not.
        id: RecoveryID.make([
          "start", context.caller, context.idempotencyKey ?? context.requestId, String(decoding: request.json, as: UTF8.self),
        ]), bundleId: app.bundleId, server: server,
        window: try TimeWindow(start: start.millisecondsSince1970, end: end.millisecondsSince1970),
        notificationType: request.notificationType, notificationSubtype: request.notificationSubtype,
        transactionId: request.transactionId, onlyFailures: request.onlyFailures ?? false, origin: .request, startedAt: WallClock.now())
    } catch { throw RPCError(error) }
    let running: [String]
    do throws(RedisError) { running = try await store.runningIDs(app.bundleId) } catch { throw RPCError(error) }
    // One that is started again is among them.
    guard running.count < most || running.contains(job.id) else {
      throw RPCError(
        .resourceExhausted, "\(most) recoveries of this app run or wait already", reason: "TOO_MANY_RECOVERIES", retryDelay: .seconds(60))
    }
    do throws(RedisError) { try await store.create(job) } catch { throw RPCError(error) }
    return StartRecoveryResponse(recoveryId: job.id)
  }
}

extension RPCError {
  /// The store of the jobs does not answer.
  init(_ error: RedisError) { self = .unavailable("the store of recoveries does not answer", reason: "STORE_UNAVAILABLE") }
}
