import AppStore
import AttributionQueue
import Logging
import RedisClient
import ServiceRuntime
import Synchronization

/// Works one recovery while this instance leads the recovery's app.
///
/// ``run(_:)`` reads the slices of the job's window concurrently (`HistorySlices` of the module AppStore). For each page, a reader waits
/// for room in the intake (``IntakeBackpressure``), requests the page, queues its notifications, and stores the progress
/// (``RecoveryProgress``). At the end, the notifications that were held back for more urgent ones are released (``HeldNotifications``).
struct RecoveryWork: Sendable {
  /// Why a job ends without being completed.
  private enum Ending: Error { case cancelled, failed(String) }

  let client: AppStoreServerAPIClient
  let deliveries: DeliveryQueue
  let store: RecoveryStore
  let term: AppLeadership.Term
  let settings: RecoverySettings
  let backpressure: IntakeBackpressure
  let metrics: RecoveryMetrics
  let logger: Logger
  private let releaseLock = ReleaseLock()

  /// Lets only one reader of the job release held notifications at a time.
  private final class ReleaseLock: Sendable {
    private let isLocked = Atomic(false)

    /// Returns false if another reader has the lock.
    func tryLock() -> Bool { !isLocked.exchange(true, ordering: .acquiring) }
    func unlock() { isLocked.store(false, ordering: .releasing) }
  }

  /// The timeout of a page with all its retries.
  private static let pageTimeout: Duration = .seconds(120)

  /// Works the job until it ends, the term is over, or the service stops.
  func run(_ stored: RecoveryJob) async {
    let progress = RecoveryProgress(stored, store: store, term: term)
    do {
      do {
        try await read(progress, stored)
        try await progress.finish(.completed, now: WallClock.now())
      } catch let ending as Ending {
        // Released before the end is stored, because the app's next leader does not release the notifications of a job that has ended.
        try await releaseHeld(stored)
        switch ending {
        case .cancelled: try await progress.finish(.cancelled, now: WallClock.now())
        case .failed(let reason): try await progress.finish(.failed, now: WallClock.now(), error: reason)
        }
      }
      report(await progress.job)
    } catch {
      logger.info("a recovery is left to the app's next leader", metadata: ["recovery": "\(stored.id)", "reason": "\(error)"])
    }
  }

  /// Logs and counts the end of a job, and logs why Apple could not deliver notifications.
  private func report(_ job: RecoveryJob) {
    logger.info(
      "a recovery ended",
      metadata: [
        "recovery": "\(job.id)", "state": "\(job.state.rawValue)", "origin": "\(job.origin.rawValue)", "pages": "\(job.pages)",
        "fetched": "\(job.fetched)", "accepted": "\(job.accepted)", "duplicates": "\(job.duplicates)",
        "undelivered": "\(job.undelivered)",
      ])
    for entry in SendAttemptDiagnosis.diagnose(job.attemptResults) {
      guard let advice = entry.advice else { continue }
      var metadata: Logger.Metadata = [
        "recovery": "\(job.id)", "app": "\(job.bundleId)", "environment": "\(job.server.rawValue)", "result": "\(entry.result)",
        "attempts": "\(entry.count)", "advice": "\(advice)",
      ]
      if let times = job.attemptTimes[entry.result] {
        metadata["from"] = "\(times.lowerBound)"
        metadata["until"] = "\(times.upperBound)"
      }
      logger.warning("Apple could not deliver notifications of the window", metadata: metadata)
    }
    metrics.countRecovery(job.state)
  }

  /// Reads all slices with up to `recovery.parallelPages` concurrent readers, and then releases the notifications that were held back.
  /// Throws ``Ending`` if the job is cancelled meanwhile or fails.
  private func read(_ progress: RecoveryProgress, _ job: RecoveryJob) async throws {
    try await withThrowingTaskGroup(of: HistorySlice?.self) { group in
      group.addTask {
        while true {
          if try await isCancelled(job) { throw Ending.cancelled }
          try await pause(300)
        }
      }
      var reading = 0
      func read(_ slice: HistorySlice) {
        reading += 1
        group.addTask { try await self.read(slice, progress) }
      }
      for slice in await progress.openSlices { read(slice) }
      while true {
        while let slice = await progress.openNext(readers: settings.parallelPages) { read(slice) }
        guard reading > 0, let unfinished = try await group.next() else { break }
        reading -= 1
        if let unfinished { read(unfinished) }
      }
      guard await progress.isRead else {
        group.cancelAll()
        throw Ending.failed("a part of the window could not be read")
      }
      group.addTask {
        try await releaseHeld(job)
        return nil
      }
      _ = try await group.next()
      group.cancelAll()
    }
  }

  /// Reads a slice to its end and returns nil. It also returns after the page with which `HistorySlices` knows enough to open further
  /// slices; then it returns the slice, and the caller continues it.
  private func read(_ slice: HistorySlice, _ progress: RecoveryProgress) async throws -> HistorySlice? {
    var action = slice.pager.next
    var failures = 0
    while case .request(let token) = action {
      try await waitForRoom(await progress.job)
      guard let current = await progress.slice(slice.number) else { return nil }
      do {
        let job = await progress.job
        // Every page needs the body of the first one. The slice's window changes only when paging begins again after a refusal.
        let page = try await client.notificationHistory(
          job.request(current.window), bundleId: job.bundleId, server: job.server, paginationToken: token,
          deadline: .now + Self.pageTimeout)
        failures = 0
        let counts = try await accept(page, progress)
        action = try await progress.received(slice.number, page, accepted: counts.accepted, duplicates: counts.duplicates)
        if case .request = action, let read = await progress.slice(slice.number), read.isAtMinPages { return read }
      } catch let error as AppStoreServerAPIError {
        if error.classification != .rate { failures += 1 }
        if let next = try await react(to: error, slice.number, failures, progress) { action = next }
      } catch let refusal as RequestRefusal {
        throw Ending.failed("\(refusal)")
      }
    }
    if case .failed(let failure) = action { throw Ending.failed("\(failure)") }
    return nil
  }

  /// Waits until there is room in the intake for the notifications of a page. If too many notifications are held back, they are released.
  private func waitForRoom(_ job: RecoveryJob) async throws {
    do {
      guard job.isUrgentFirst else { return try await backpressure.reserve(Int(HistorySlices.pageSize)) }
      while try await !backpressure.reserveHeld(Int(HistorySlices.pageSize)) {
        // Only one reader releases, because another one would read the same ids from the list. The others wait in `reserveHeld`.
        guard releaseLock.tryLock() else { continue }
        defer { releaseLock.unlock() }
        try await releaseHeld(job)
      }
    } catch is CancellationError {
      throw RecoveryProgress.Interruption.stopped
    }
  }

  /// Handles an error of Apple's: waits before the next attempt, or throws ``Ending`` if the job must be given up. Returns an action if the
  /// error is about paging, and nil if the same page is requested again.
  private func react(
    to error: AppStoreServerAPIError, _ slice: Int64, _ failures: Int, _ progress: RecoveryProgress
  ) async throws -> NotificationHistoryPager.Action? {
    if Task.isCancelled { throw RecoveryProgress.Interruption.stopped }
    if let code = error.errorCode, let next = try await progress.refused(slice, errorCode: code, now: WallClock.now()) {
      let id = await progress.job.id
      logger.warning("a part of a recovery restarts", metadata: ["recovery": "\(id)", "reason": "\(error)"])
      return next
    }
    metrics.countError(error.classification.rawValue)
    let stored = await progress.job
    let now = WallClock.now()
    // Waiting is useless if nothing of the window is in Apple's history any more.
    guard stored.window.end > NotificationRetention.startWithMargin(of: stored.server, now: now),
      let wait = RecoveryErrorRule.pause(
        after: error, origin: stored.origin, failures: failures, now: now, random: Double.random(in: 0...1))
    else { throw Ending.failed("\(error)") }
    try await progress.note("\(error)")
    try await pause(wait)
    return nil
  }

  // MARK: Accepting

  typealias AcceptResult = RecoveredNotification.AcceptResult

  /// Queues all notifications of a page, before the page counts as read. They are queued concurrently, so that they share Redis' writes to
  /// disk.
  private func accept(_ page: NotificationHistoryPage, _ progress: RecoveryProgress) async throws -> (accepted: Int, duplicates: Int) {
    let job = await progress.job
    var counts = (accepted: 0, duplicates: 0)
    var held: [RecoveryUrgency: [DeliveryID]] = [:]
    try await withThrowingTaskGroup(of: (AcceptResult, held: RecoveryUrgency?).self) { group in
      for item in page.items {
        let notification = RecoveredNotification(item.signedPayload)
        let urgency = RecoveryUrgency(notificationType: notification.identifiers.notificationType)
        let hold = job.isUrgentFirst ? urgency.hold(limit: settings.holdBack.milliseconds) : 0
        group.addTask {
          let result = try await retrying("a recovered notification cannot be queued now", job) {
            try await notification.accept(
              deliveries, bundleId: job.bundleId, attributes: ["recoveryId": job.id], notBefore: hold > 0 ? WallClock.now() + hold : nil)
          }
          return (result, hold > 0 ? urgency : nil)
        }
      }
      for try await (result, urgency) in group {
        metrics.countNotification(result)
        let id: DeliveryID?
        switch result {
        case .accepted(let new): (id, counts.accepted) = (new, counts.accepted + 1)
        // A duplicate is listed too, because an earlier leader may have queued it and stopped before it listed it.
        case .duplicate(let known): (id, counts.duplicates) = (known, counts.duplicates + 1)
        }
        if let id, let urgency { held[urgency, default: []].append(id) }
      }
    }
    let list = HeldNotifications(redis: store.redis, recoveryId: job.id, bundleId: job.bundleId)
    for (urgency, ids) in held { try await retrying("held notifications cannot be listed now", job) { try await list.add(ids, urgency) } }
    return counts
  }

  /// Releases the notifications that were held back, the most urgent ones first, and no faster than the intake has room for them.
  private func releaseHeld(_ job: RecoveryJob) async throws {
    guard job.origin.mayHoldBack else { return }
    let held = HeldNotifications(redis: store.redis, recoveryId: job.id, bundleId: job.bundleId)
    for urgency in RecoveryUrgency.allCases {
      while true {
        let entries = try await retrying("held notifications cannot be released now", job) { try await held.next(urgency) }
        guard !entries.isEmpty else { break }
        for ids in Dictionary(grouping: entries.ids, by: \.shard).values {
          do { try await backpressure.reserve(ids.count) } catch { throw RecoveryProgress.Interruption.stopped }
          let moved = try await retrying("held notifications cannot be released now", job) {
            try await deliveries.makeReady(ids, in: .intake)
          }
          // The other messages were not moved: they are ready or processed already, or wait in their order line.
          await backpressure.giveBack(ids.count - moved)
        }
        try await retrying("held notifications cannot be released now", job) { try await held.remove(entries, urgency) }
      }
    }
  }

  /// Repeats a step after every error, until it succeeds or the task is cancelled. The usual errors are an unavailable Redis and a full
  /// queue.
  private func retrying<Value: Sendable>(
    _ what: Logger.Message, _ job: RecoveryJob, _ step: () async throws -> Value
  ) async throws -> Value {
    var wait: Int64 = 100
    while true {
      do { return try await step() } catch {
        logger.warning(what, metadata: ["recovery": "\(job.id)", "reason": "\(error)"])
      }
      try await pause(wait)
      wait = min(wait * 2, 5000)
    }
  }

  private func isCancelled(_ job: RecoveryJob) async throws -> Bool {
    if Task.isCancelled { throw RecoveryProgress.Interruption.stopped }
    return (try? await store.isCancelRequested(job)) ?? false
  }

  /// Sleeps. Throws ``RecoveryProgress/Interruption`` if the task is cancelled.
  private func pause(_ milliseconds: Int64) async throws {
    do { try await Task.sleep(for: .milliseconds(milliseconds)) } catch { throw RecoveryProgress.Interruption.stopped }
  }
}
