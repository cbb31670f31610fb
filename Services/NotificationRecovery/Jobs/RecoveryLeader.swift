import AppStore
import AttributionQueue
import Logging
import RedisClient
import Synchronization
import ServiceRuntime

/// Becomes the leader of apps that have none (``AppLeadership``). While it leads an app, it works the app's recoveries (``RecoveryWork``)
/// and runs its periodic work.
final class RecoveryLeader: Sendable {
  /// The periodic work of an app's leader, which creates jobs: by schedule and for outages. See `RecoveryParts.swift`.
  typealias Watch = @Sendable (_ term: AppLeadership.Term) async -> Void

  private let apps: [String]
  private let leadership: AppLeadership
  private let store: RecoveryStore
  private let work: @Sendable (AppLeadership.Term) -> RecoveryWork
  private let watch: Watch
  private let logger: Logger
  /// The apps that this instance leads.
  private let led = Mutex<Set<String>>([])
  /// The slot groups of the jobs that this instance works now, by app and job.
  private let active = Mutex<[String: [String: RecoverySlots.SlotGroup]]>([:])
  private let lastSearch = Mutex(ContinuousClock.now)

  /// The interval between searches for apps without a leader, and for jobs.
  private static let searchInterval: Duration = .milliseconds(300)

  init(
    apps: [String], leadership: AppLeadership, store: RecoveryStore, logger: Logger,
    work: @escaping @Sendable (AppLeadership.Term) -> RecoveryWork, watch: @escaping Watch
  ) {
    self.apps = apps
    self.leadership = leadership
    self.store = store
    self.logger = logger
    self.work = work
    self.watch = watch
  }

  /// True if the last search for apps was more than 30 seconds ago.
  var isStalled: Bool { lastSearch.withLock { ContinuousClock.now - $0 > .seconds(30) } }

  /// Runs until its task is cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      while !Task.isCancelled {
        for term in await claimApps() { group.addTask { await self.lead(term) } }
        lastSearch.withLock { $0 = .now }
        do { try await Task.sleep(for: Self.searchInterval) } catch { break }
      }
      group.cancelAll()
    }
  }

  /// Claims a few apps at a time, so that instances that start at the same time share the apps.
  private func claimApps() async -> [AppLeadership.Term] {
    var terms: [AppLeadership.Term] = []
    let free = led.withLock { led in apps.filter { !led.contains($0) } }
    do throws(RedisError) {
      for bundleId in free.shuffled() where terms.count < max(1, apps.count / 16) {
        guard let term = try await leadership.claim(bundleId) else { continue }
        _ = led.withLock { $0.insert(bundleId) }
        terms.append(term)
      }
    } catch {
      logger.debug("the leadership of apps cannot be claimed now", metadata: ["reason": "\(error)"])
    }
    return terms
  }

  /// Works as an app's leader until the term is over or the task is cancelled.
  private func lead(_ term: AppLeadership.Term) async {
    logger.info("leads an app's recoveries", metadata: ["app": "\(term.bundleId)", "term": "\(term.token)"])
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.leadership.keep(term) }
      group.addTask { await self.watch(term) }
      group.addTask { await self.workJobs(term) }
      // When one of these tasks ends, the others are cancelled: without the lease, nothing can be written.
      await group.next()
      group.cancelAll()
    }
    // If Redis is unavailable, the lease expires.
    try? await leadership.release(term)
    _ = led.withLock { $0.remove(term.bundleId) }
  }

  /// Starts the app's jobs, as slots become free, until the task is cancelled.
  private func workJobs(_ term: AppLeadership.Term) async {
    await withDiscardingTaskGroup { group in
      while !Task.isCancelled {
        for job in await jobs(term, besides: active.withLock { $0[term.bundleId] ?? [:] }) {
          active.withLock { $0[term.bundleId, default: [:]][job.id] = job.slotGroup }
          group.addTask {
            await self.work(term).run(job)
            self.active.withLock { _ = $0[term.bundleId]?.removeValue(forKey: job.id) }
          }
        }
        do { try await Task.sleep(for: Self.searchInterval) } catch { break }
      }
      group.cancelAll()
    }
  }

  /// The jobs to start now, as far as slots are free. Jobs that wait for a slot are cancelled here if this was requested.
  private func jobs(_ term: AppLeadership.Term, besides active: [String: RecoverySlots.SlotGroup]) async -> [RecoveryJob] {
    var waiting: [String: RecoveryJob] = [:]
    var beginning: [String] = []
    do throws(RedisError) {
      let ids = try await store.runningIDs(term.bundleId).filter { active[$0] == nil }
      let stored = try await store.jobs(ids, of: term.bundleId)
      for id in ids {
        guard let job = stored[id]?.job, job.state == .running else {
          try await store.remove(running: id, of: term.bundleId)
          continue
        }
        waiting[id] = job
      }
      beginning = RecoverySlots.beginning(
        waiting.values.map { RecoverySlots.Candidate(id: $0.id, slotGroup: $0.slotGroup, startedAt: $0.startedAt) },
        active: Array(active.values))
      for job in waiting.values where !beginning.contains(job.id) && stored[job.id]?.isCancelRequested == true {
        var cancelled = job
        cancelled.finish(.cancelled, now: WallClock.now())
        _ = try await store.save(cancelled, term)
      }
    } catch {
      logger.debug("the running recoveries cannot be listed now", metadata: ["reason": "\(error)"])
    }
    return beginning.compactMap { waiting[$0] }
  }
}

extension RecoveryJob {
  fileprivate var slotGroup: RecoverySlots.SlotGroup { RecoverySlots.SlotGroup(server: server, origin: origin) }
}
