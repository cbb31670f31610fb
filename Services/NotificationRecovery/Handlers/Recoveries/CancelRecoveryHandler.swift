import AttributionProtocol
import RedisClient
import ServiceRuntime

/// `CancelRecovery`: cancels a recovery. Notifications that it has queued are processed nevertheless. A recovery that has ended is not
/// changed.
struct CancelRecoveryHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.CancelRecovery
  let store: RecoveryStore
  let leadership: AppLeadership

  /// How long to wait until the app's leader has cancelled the job. After that, the response says that the recovery still runs.
  private static let timeout: Duration = .seconds(5)

  func handle(_ request: CancelRecoveryRequest, _ context: RPCContext) async throws(RPCError) -> CancelRecoveryResponse {
    var job = try await store.known(request.recoveryId)
    guard job.state == .running else { return CancelRecoveryResponse(recovery: Recovery(job)) }
    let end = min(ContinuousClock.now + Self.timeout, context.deadline - .milliseconds(100))
    do throws(RedisError) {
      try await store.requestCancel(job)
      while job.state == .running, ContinuousClock.now < end {
        if let term = try await leadership.claim(job.bundleId) {
          // No instance led the app, so this one leads it for a moment, in which it may write the job.
          if var current = try await store.job(job.id), current.state == .running {
            current.finish(.cancelled, now: WallClock.now())
            _ = try await store.save(current, term)
          }
          try await leadership.release(term)
        } else if (try? await Task.sleep(for: .milliseconds(100))) == nil {
          break
        }
        job = try await store.job(job.id) ?? job
      }
    } catch { throw RPCError(error) }
    return CancelRecoveryResponse(recovery: Recovery(job))
  }
}
