import AppStore
import AttributionQueue
import Logging
import RedisClient

/// Works one job, page by page, while this instance holds its lease.
struct RecoveryWork: Sendable {
  /// Why work on a job ends without the job being over: another instance goes on with it.
  private enum Interruption: Error { case leaseLost, stopped }

  let client: AppStoreServerAPIClient
  let deliveries: DeliveryQueue
  let store: RecoveryStore
  let owner: String
  let metrics: RecoveryMetrics
  let logger: Logger

  /// How long one page may take with all its retries.
  private static let pageTime: Duration = .seconds(120)
  /// Failures in a row before the job is given up: with the widest step about an hour.
  private static let maxFailures = 60
  private static let widestStep: Double = 60_000

  /// Works the job to its end, or until the lease is lost or the service stops.
  func run(_ stored: RecoveryJob) async {
    var job = stored
    do {
      try await work(&job)
      logger.info(
        "recovery ended",
        metadata: [
          "recovery": "\(job.id)", "state": "\(job.state.rawValue)", "pages": "\(job.pages)", "fetched": "\(job.fetched)",
          "accepted": "\(job.accepted)", "duplicates": "\(job.duplicates)",
        ])
      metrics.ended(job.state)
    } catch {
      logger.info("recovery left to another instance", metadata: ["recovery": "\(job.id)"])
    }
    // Without Redis the lease runs out by itself.
    try? await store.release(job.id, owner: owner)
  }

  private func work(_ job: inout RecoveryJob) async throws(Interruption) {
    var pager = HistoryPager(paginationToken: job.paginationToken, restarts: job.restarts)
    var action = pager.next
    var failures = 0
    while true {
      if try await isCancelled(job.id) { return try await finish(&job, .cancelled) }
      let request: NotificationHistoryRequest?
      do throws(RequestRefusal) { request = try job.request() } catch { return try await finish(&job, .failed, "\(error)") }
      // Apple keeps nothing of the window: that is said, not an error.
      guard let request else { return try await finish(&job, .completed) }
      switch action {
      case .finished: return try await finish(&job, .completed)
      case .failed(let failure): return try await finish(&job, .failed, "\(failure)")
      case .request(let token):
        do {
          let page = try await client.notificationHistory(
            request, bundleId: job.bundleId, server: job.server, paginationToken: token, deadline: .now + Self.pageTime)
          failures = 0
          try await takeIn(page, &job)
          action = pager.received(hasMore: page.hasMore, paginationToken: page.paginationToken)
          job.lastError = nil
        } catch let error as AppStoreServerAPIError {
          try await react(to: error, &job, &pager, &action, &failures)
          if job.state != .running { return }
        } catch let error as Interruption {
          throw error
        } catch {
          throw .stopped
        }
        job.paginationToken = pager.paginationToken
        job.restarts = pager.restarts
        try await save(job)
      }
    }
  }

  private func react(
    to error: AppStoreServerAPIError, _ job: inout RecoveryJob, _ pager: inout HistoryPager, _ action: inout HistoryPager.Action,
    _ failures: inout Int
  ) async throws(Interruption) {
    if Task.isCancelled { throw .stopped }
    job.lastError = "\(error)"
    if let code = error.errorCode, let next = pager.refused(errorCode: code) {
      logger.warning("recovery starts its window anew", metadata: ["recovery": "\(job.id)", "reason": "\(error)"])
      do throws(RequestRefusal) { try job.clip(now: WallClock.now()) } catch { return try await finish(&job, .failed, "\(error)") }
      action = next
      return
    }
    switch error.classification {
    case .rate:
      try await save(job)
      try await wait(until: (error.retryAt ?? WallClock.now() + 60_000) + Int64.random(in: 0...1000), job.id)
    case .retry, .server:
      failures += 1
      guard failures < Self.maxFailures else { return try await finish(&job, .failed, "\(error)") }
      try await save(job)
      let widest = min(Self.widestStep, 1000 * Double(1 << min(failures, 16)))
      try await wait(until: WallClock.now() + Int64(widest * Double.random(in: 0...1)), job.id)
    case .tryOtherEnvironment, .credentials, .configuration, .permanent:
      try await finish(&job, .failed, "\(error)")
    }
  }

  /// Puts every notification of a page into the intake, before the page counts as read.
  private func takeIn(_ page: NotificationHistoryPage, _ job: inout RecoveryJob) async throws(Interruption) {
    for item in page.items {
      for result in item.sendAttemptResults { job.attemptResults[result, default: 0] += 1 }
      let outcome = try await takeIn(item.signedPayload, job.id)
      switch outcome {
      case .accepted: job.accepted += 1
      case .duplicate: job.duplicates += 1
      }
      metrics.took(outcome)
    }
    job.pages += 1
    job.fetched += Int64(page.items.count + page.unusable)
    job.failed += Int64(page.unusable)
  }

  typealias Taken = RecoveredNotification.Taken

  private func takeIn(_ signedPayload: String, _ jobID: String) async throws(Interruption) -> Taken {
    let notification = RecoveredNotification(signedPayload)
    var step: Int64 = 100
    while true {
      do throws(QueueError) {
        return try await notification.takeIn(deliveries, attributes: ["recoveryId": jobID])
      } catch {
        // Redis away or the queue full: the page is kept until it is in.
        logger.warning("a recovered notification is not taken in yet", metadata: ["recovery": "\(jobID)", "reason": "\(error)"])
        do { try await Task.sleep(for: .milliseconds(step)) } catch { throw .stopped }
        step = min(step * 2, 5000)
      }
    }
  }

  // MARK: The job in Redis

  private func finish(_ job: inout RecoveryJob, _ state: RecoveryJob.State, _ error: String? = nil) async throws(Interruption) {
    job.finish(state, now: WallClock.now(), error: error)
    try await save(job)
  }

  /// Keeps trying while Redis is away: progress that is not stored would be asked for again.
  private func save(_ job: RecoveryJob) async throws(Interruption) {
    var step: Int64 = 100
    while true {
      if let saved = try? await store.save(job, owner: owner) {
        guard saved else { throw .leaseLost }
        return
      }
      do { try await Task.sleep(for: .milliseconds(step)) } catch { throw .stopped }
      step = min(step * 2, 5000)
    }
  }

  private func isCancelled(_ id: String) async throws(Interruption) -> Bool {
    if Task.isCancelled { throw .stopped }
    return (try? await store.isCancelRequested(id)) ?? false
  }

  /// Waits in small steps, so that a cancelled recovery does not sit out an hour of Apple's rate limit.
  private func wait(until moment: Int64, _ id: String) async throws(Interruption) {
    while true {
      let left = moment - WallClock.now()
      guard left > 0 else { return }
      do { try await Task.sleep(for: .milliseconds(min(left, 1000))) } catch { throw .stopped }
      if try await isCancelled(id) { return }
    }
  }
}
