import AttributionProtocol
import RedisClient
import ServiceRuntime

/// Cancels a recovery; notifications that were brought back stay. A recovery that has ended is not changed.
struct CancelRecoveryHandler: RPCHandler {
  typealias Method = NotificationRecoveryService.CancelRecovery
  let store: RecoveryStore
  let leadership: AppLeadership

  /// How long to wait for the runner to notice; after that the response says that the recovery still runs.
  private static let patience: Duration = .seconds(5)

  func handle(_ request: CancelRecoveryRequest, _ context: RPCContext) async throws(RPCError) -> CancelRecoveryResponse {
    var job = try await store.known(request.recoveryId)
    guard job.state == .running else { return CancelRecoveryResponse(recovery: Recovery(job)) }
    let end = min(ContinuousClock.now + Self.patience, context.deadline - .milliseconds(100))
    do throws(RedisError) {
      try await store.requestCancel(job)
      while job.state == .running, ContinuousClock.now < end {
        if let term = try await leadership.claim(job.bundleId) {
          // No instance leads the app now.
          if var mine = try await store.job(job.id), mine.state == .running {
            mine.finish(.cancelled, now: WallClock.now())
            _ = try await store.save(mine, term)
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
