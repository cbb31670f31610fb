import AppStore
import AttributionQueue
import Logging
import RedisClient
import ServiceRuntime

/// Works one job, several slices at a time, while this instance leads the job's app.
struct RecoveryWork: Sendable {
  private enum Ending: Error { case cancelled, failed(String) }

  let client: AppStoreServerAPIClient
  let deliveries: DeliveryQueue
  let store: RecoveryStore
  let term: AppLeadership.Term
  let settings: RecoverySettings
  let gate: IntakeGate
  let metrics: RecoveryMetrics
  let logger: Logger

  /// How long one page may take with all its retries.
  private static let pageTime: Duration = .seconds(120)

  /// Works the job to its end, or until the term is over or the service stops.
  func run(_ stored: RecoveryJob) async {
    let progress = RecoveryProgress(stored, store: store, term: term)
    do {
      do {
        try await read(progress, stored)
        try await progress.finish(.completed, now: WallClock.now())
      } catch let ending as Ending {
        switch ending {
        case .cancelled: try await progress.finish(.cancelled, now: WallClock.now())
        case .failed(let reason): try await progress.finish(.failed, now: WallClock.now(), error: reason)
        }
      }
      report(await progress.job)
      await letGo(progress)
    } catch {
      logger.info("recovery left to the app's next leader", metadata: ["recovery": "\(stored.id)"])
    }
  }

  /// Lets what was held back be worked, in its order and no faster than it is verified.
  private func letGo(_ progress: RecoveryProgress) async {
    for ids in await progress.letGo() {
      do {
        try await gate.pass(ids.count)
        try await deliveries.makeReady(ids, in: .intake)
      } catch is CancellationError {
        return
      } catch {
        logger.warning("held notifications wait for their time", metadata: ["count": "\(ids.count)", "reason": "\(error)"])
      }
    }
  }

  private func report(_ job: RecoveryJob) {
    logger.info(
      "recovery ended",
      metadata: [
        "recovery": "\(job.id)", "state": "\(job.state.rawValue)", "origin": "\(job.origin.rawValue)", "pages": "\(job.pages)",
        "fetched": "\(job.fetched)", "accepted": "\(job.accepted)", "duplicates": "\(job.duplicates)",
      ])
    for entry in SendAttemptDiagnosis.diagnose(job.attemptResults) {
      guard let advice = entry.advice else { continue }
      logger.warning(
        "Apple could not deliver",
        metadata: ["recovery": "\(job.id)", "result": "\(entry.result)", "attempts": "\(entry.count)", "advice": "\(advice)"])
    }
    metrics.ended(job.state)
  }

  /// Reads all slices: as many at a time as there are readers.
  private func read(_ progress: RecoveryProgress, _ job: RecoveryJob) async throws {
    try await withThrowingTaskGroup(of: Bool.self) { group in
      group.addTask {
        while true {
          if try await isCancelled(job) { throw Ending.cancelled }
          try await pause(300)
        }
      }
      var reading = 0
      func read(_ slice: HistorySlice) {
        reading += 1
        group.addTask {
          try await self.read(slice, progress)
          return true
        }
      }
      for slice in await progress.openSlices { read(slice) }
      while true {
        while let slice = await progress.openNext(readers: settings.parallelPages) { read(slice) }
        guard reading > 0, try await group.next() != nil else { break }
        reading -= 1
      }
      group.cancelAll()
      guard await progress.isRead else { throw Ending.failed("a part of the window could not be read") }
    }
  }

  private func read(_ slice: HistorySlice, _ progress: RecoveryProgress) async throws {
    var action = slice.pager.next
    var failures = 0
    while case .request(let token) = action {
      do { try await gate.pass(Int(HistorySlices.pageSize)) } catch { throw RecoveryProgress.Interruption.stopped }
      guard let now = await progress.slice(slice.number) else { return }
      do {
        let job = await progress.job
        let page = try await client.notificationHistory(
          job.request(now.window), bundleId: job.bundleId, server: job.server, paginationToken: token, deadline: .now + Self.pageTime)
        failures = 0
        let taken = try await takeIn(page, job.id, progress)
        action = try await progress.received(slice.number, page, accepted: taken.accepted, duplicates: taken.duplicates)
      } catch let error as AppStoreServerAPIError {
        if error.classification != .rate { failures += 1 }
        if let next = try await react(to: error, slice.number, failures, progress) { action = next }
      } catch let refusal as RequestRefusal {
        throw Ending.failed("\(refusal)")
      }
    }
    if case .failed(let failure) = action { throw Ending.failed("\(failure)") }
  }

  /// Waits as long as the error asks for; a new action where the slice starts anew.
  private func react(
    to error: AppStoreServerAPIError, _ slice: Int64, _ failures: Int, _ progress: RecoveryProgress
  ) async throws -> HistoryPager.Action? {
    if Task.isCancelled { throw RecoveryProgress.Interruption.stopped }
    if let code = error.errorCode, let next = try await progress.refused(slice, errorCode: code, now: WallClock.now()) {
      let id = await progress.job.id
      logger.warning("a part of a recovery starts anew", metadata: ["recovery": "\(id)", "reason": "\(error)"])
      return next
    }
    metrics.failed(error.classification.rawValue)
    let stored = await progress.job
    let now = WallClock.now()
    // What Apple no longer keeps cannot be waited for.
    guard stored.window.end > stored.oldest(now: now),
      let wait = RecoveryErrorRule.pause(
        after: error, origin: stored.origin, failures: failures, now: now, random: Double.random(in: 0...1))
    else { throw Ending.failed("\(error)") }
    try await progress.note("\(error)")
    try await pause(wait)
    return nil
  }

  // MARK: Taking in

  typealias Taken = RecoveredNotification.Taken

  /// Puts every notification of a page into the intake, before the page counts as read. All at once: they share Redis's writes to disk.
  private func takeIn(
    _ page: NotificationHistoryPage, _ jobID: String, _ progress: RecoveryProgress
  ) async throws -> (accepted: Int, duplicates: Int) {
    var counts = (accepted: 0, duplicates: 0)
    try await withThrowingTaskGroup(of: Taken.self) { group in
      for item in page.items {
        let notification = RecoveredNotification(item.signedPayload)
        let urgency = RecoveryUrgency(notificationType: notification.found.notificationType)
        let hold = await progress.hold(urgency, most: settings.holdBack.milliseconds)
        group.addTask {
          let taken = try await takeIn(notification, notBefore: hold > 0 ? WallClock.now() + hold : nil, jobID)
          if case .accepted(let id) = taken, hold > 0 { await progress.note(held: id, urgency) }
          return taken
        }
      }
      for try await taken in group {
        if case .accepted = taken { counts.accepted += 1 } else { counts.duplicates += 1 }
        metrics.took(taken)
      }
    }
    return counts
  }

  private func takeIn(_ notification: RecoveredNotification, notBefore: Int64?, _ jobID: String) async throws -> Taken {
    var step: Int64 = 100
    while true {
      do throws(QueueError) {
        return try await notification.takeIn(deliveries, attributes: ["recoveryId": jobID], notBefore: notBefore)
      } catch {
        // Redis away or the queue full: the page is kept until it is in.
        logger.warning("a recovered notification is not taken in yet", metadata: ["recovery": "\(jobID)", "reason": "\(error)"])
      }
      try await pause(step)
      step = min(step * 2, 5000)
    }
  }

  private func isCancelled(_ job: RecoveryJob) async throws -> Bool {
    if Task.isCancelled { throw RecoveryProgress.Interruption.stopped }
    return (try? await store.isCancelRequested(job)) ?? false
  }

  private func pause(_ milliseconds: Int64) async throws {
    do { try await Task.sleep(for: .milliseconds(milliseconds)) } catch { throw RecoveryProgress.Interruption.stopped }
  }
}
