import AppStore
import RedisClient

/// Holds a job while several readers work its slices, and stores each change. Changes that happen while a write is in flight share the next
/// write.
actor RecoveryProgress {
  /// Why this instance stops working a job that has not ended. The app's next leader continues the job.
  enum Interruption: Error {
    /// Another instance may lead the app now.
    case termOver
    /// The job's task was cancelled, because the term or the service ends.
    case stopped
  }

  private(set) var job: RecoveryJob
  private let store: RecoveryStore
  private let term: AppLeadership.Term
  /// The number of the current state. Each change increases it.
  private var version = 0
  /// The number of the state that is stored.
  private var stored = 0
  private var isStoring = false
  /// Callers of ``save()`` that wait for a write in flight.
  private var waiting: [CheckedContinuation<Void, Never>] = []

  init(_ job: RecoveryJob, store: RecoveryStore, term: AppLeadership.Term) {
    self.job = job
    self.store = store
    self.term = term
  }

  /// Slices that an earlier leader left open; empty for a new job.
  var openSlices: [HistorySlice] { job.slices?.open ?? [] }

  /// True if the whole window was read.
  var isRead: Bool { job.slices?.isFinished ?? true }

  /// Opens the next slice; nil if none can be opened now (`HistorySlices.openNext`).
  func openNext(readers: Int) -> HistorySlice? { job.slices?.openNext(readers: readers) }

  /// The current state of a slice; nil if it is closed.
  func slice(_ number: Int64) -> HistorySlice? { job.slices?.open.first { $0.number == number } }

  /// Records that the notifications of a page were queued. Returns the next action for the slice.
  func received(_ slice: Int64, _ page: NotificationHistoryPage, accepted: Int, duplicates: Int) async throws
    -> NotificationHistoryPager.Action
  {
    job.pages += 1
    job.fetched += Int64(page.items.count + page.unusable)
    job.failed += Int64(page.unusable)
    job.accepted += Int64(accepted)
    job.duplicates += Int64(duplicates)
    job.count(page.items)
    job.lastError = nil
    let action =
      job.slices?.received(
        slice, items: page.items.count + page.unusable, hasMore: page.hasMore, paginationToken: page.paginationToken) ?? .finished
    try await save()
    return action
  }

  /// Records that Apple refused a page, and returns the next action for the slice. Returns nil if the error is not about paging.
  func refused(_ slice: Int64, errorCode: Int64, now: Int64) async throws -> NotificationHistoryPager.Action? {
    // Computed first, because Swift does not allow reading `job` while a mutating method of its slices runs.
    let oldest = NotificationRetention.startWithMargin(of: job.server, now: now)
    guard let action = job.slices?.refused(slice, errorCode: errorCode, oldest: oldest) else { return nil }
    job.noteRetention(now: now)
    try await save()
    return action
  }

  /// Stores an error after which the job continues.
  func note(_ error: String) async throws {
    job.lastError = error
    try await save()
  }

  /// Ends the job.
  func finish(_ state: RecoveryJob.State, now: Int64, error: String? = nil) async throws {
    job.finish(state, now: now, error: error)
    try await save()
  }

  /// Returns when the current or a newer state is stored. Retries while Redis is unavailable, because pages whose progress is not stored
  /// would be requested from Apple again.
  private func save() async throws {
    version += 1
    let changed = version
    while stored < changed {
      if isStoring {
        await withCheckedContinuation { waiting.append($0) }
        continue
      }
      isStoring = true
      defer {
        isStoring = false
        for continuation in waiting { continuation.resume() }
        waiting = []
      }
      let snapshot = version
      try await write(job)
      stored = snapshot
    }
  }

  private func write(_ job: RecoveryJob) async throws {
    var step: Int64 = 100
    while true {
      if let saved = try? await store.save(job, term) {
        guard saved else { throw Interruption.termOver }
        return
      }
      do { try await Task.sleep(for: .milliseconds(step)) } catch { throw Interruption.stopped }
      step = min(step * 2, 5000)
    }
  }
}
