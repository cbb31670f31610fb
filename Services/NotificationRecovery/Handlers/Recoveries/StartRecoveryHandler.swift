import AppStore
import AttributionProtocol
import RedisClient
import ServiceRuntime

/// `StartRecovery`: stores a recovery and returns. The instance that leads the app does the work (``RecoveryLeader``).
struct StartRecoveryHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.StartRecovery
  let calls: AppStoreCalls
  let store: RecoveryStore
  /// The maximum number of running and waiting recoveries of an app.
  let maxRunning: Int

  func handle(_ request: StartRecoveryRequest, _ context: RPCContext) async throws(RPCError) -> StartRecoveryResponse {
    let app = try calls.app(request.bundleId)
    let server = try calls.requiredServer(request.environment, of: app)
    guard let start = request.startDate else { throw .invalidArgument(field: "startDate", "is missing") }
    guard let end = request.endDate else { throw .invalidArgument(field: "endDate", "is missing") }
    let job: RecoveryJob
    do throws(RequestRefusal) {
      job = try RecoveryJob(
        // A call that is executed again after a crash gets the same id. Another request under a reused idempotency key gets another one.
        id: RecoveryID.make([
          "start", context.caller, context.idempotencyKey ?? context.requestId, String(decoding: request.json, as: UTF8.self),
        ]), bundleId: app.bundleId, server: server,
        window: try TimeWindow(start: start.millisecondsSince1970, end: end.millisecondsSince1970),
        notificationType: request.notificationType, notificationSubtype: request.notificationSubtype,
        transactionId: request.transactionId, onlyFailures: request.onlyFailures ?? false, origin: .request, startedAt: WallClock.now())
    } catch { throw RPCError(error) }
    let running: [String]
    do throws(RedisError) { running = try await store.runningIDs(app.bundleId) } catch { throw RPCError(error) }
    // A call that is executed again may find its job among the running ones.
    guard running.count < maxRunning || running.contains(job.id) else {
      throw RPCError(
        .resourceExhausted, "\(maxRunning) recoveries of this app run or wait already", reason: "TOO_MANY_RECOVERIES",
        retryDelay: .seconds(60))
    }
    do throws(RedisError) { try await store.create(job) } catch { throw RPCError(error) }
    return StartRecoveryResponse(recoveryId: job.id)
  }
}

extension RPCError {
  /// The error for callers if a Redis command failed.
  init(_ error: RedisError) { self = .unavailable("Redis does not answer", reason: "STORE_UNAVAILABLE") }
}
