import AppStore
import AttributionQueue
import Logging
import RedisClient
import Synchronization
import ServiceRuntime

/// Leads apps that nobody leads, works their jobs, and watches over them.
final class RecoveryRunner: Sendable {
  /// What a leader does for an app beside its jobs, again and again.
  typealias Watch = @Sendable (_ term: AppLeadership.Term) async -> Void

  private let apps: [String]
  private let leadership: AppLeadership
  private let store: RecoveryStore
  private let work: @Sendable (AppLeadership.Term) -> RecoveryWork
  private let watch: Watch
  private let logger: Logger
  private let led = Mutex<Set<String>>([])
  /// Jobs that are worked here now, by app.
  private let active = Mutex<[String: Set<String>]>([:])
  private let lastLook = Mutex(ContinuousClock.now)

  /// Jobs of one app at a time.
  private static let jobsAtATime = 4
  /// How often it is looked for apps and jobs.
  private static let pause: Duration = .milliseconds(300)

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

  /// Whether it has not looked for apps in a long time.
  var isStalled: Bool { lastLook.withLock { ContinuousClock.now - $0 > .seconds(30) } }

  /// Until its task is cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      while !Task.isCancelled {
        for term in await claimed() { group.addTask { await self.lead(term) } }
        lastLook.withLock { $0 = .now }
        do { try await Task.sleep(for: Self.pause) } catch { break }
      }
      group.cancelAll()
    }
  }

  /// Only some apps at a look: instances that start together share them.
  private func claimed() async -> [AppLeadership.Term] {
    var terms: [AppLeadership.Term] = []
    let free = led.withLock { led in apps.filter { !led.contains($0) } }
    do throws(RedisError) {
      for bundleId in free.shuffled() where terms.count < max(1, apps.count / 16) {
        guard let term = try await leadership.claim(bundleId) else { continue }
        _ = led.withLock { $0.insert(bundleId) }
        terms.append(term)
      }
    } catch {
      logger.debug("apps cannot be claimed", metadata: ["reason": "\(error)"])
    }
    return terms
  }

  private func lead(_ term: AppLeadership.Term) async {
    logger.info("leads an app's recoveries", metadata: ["app": "\(term.bundleId)", "term": "\(term.token)"])
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.leadership.keep(term) }
      group.addTask { await self.watch(term) }
      group.addTask { await self.workJobs(term) }
      // Whichever ends first ends the others: without the lease nothing can be written.
      await group.next()
      group.cancelAll()
    }
    // Without Redis the lease runs out by itself.
    try? await leadership.release(term)
    _ = led.withLock { $0.remove(term.bundleId) }
  }

  private func workJobs(_ term: AppLeadership.Term) async {
    await withDiscardingTaskGroup { group in
      while !Task.isCancelled {
        for job in await jobs(term, besides: active.withLock { $0[term.bundleId] ?? [] }) {
          _ = active.withLock { $0[term.bundleId, default: []].insert(job.id) }
          group.addTask {
            await self.work(term).run(job)
            _ = self.active.withLock { $0[term.bundleId]?.remove(job.id) }
          }
        }
        do { try await Task.sleep(for: Self.pause) } catch { break }
      }
      group.cancelAll()
    }
  }

  /// Jobs to begin with: what an outage wants before what a caller wants, and that before what the schedule wants.
  private func jobs(_ term: AppLeadership.Term, besides active: Set<String>) async -> [RecoveryJob] {
    var found: [RecoveryJob] = []
    do throws(RedisError) {
      for id in try await store.runningIDs(term.bundleId) where !active.contains(id) {
        guard let job = try await store.job(id, of: term.bundleId), job.state == .running else {
          try await store.remove(running: id, of: term.bundleId)
          continue
        }
        if active.count >= Self.jobsAtATime, try await store.isCancelRequested(job) {
          var cancelled = job
          cancelled.finish(.cancelled, now: WallClock.now())
          _ = try await store.save(cancelled, term)
        } else {
          found.append(job)
        }
      }
    } catch {
      logger.debug("jobs cannot be looked for", metadata: ["reason": "\(error)"])
    }
    found.sort { ($0.origin.turn, $0.startedAt) < ($1.origin.turn, $1.startedAt) }
    return Array(found.prefix(max(0, Self.jobsAtATime - active.count)))
  }
}

extension RecoveryJob.Origin {
  fileprivate var turn: Int {
    switch self {
    case .outage: 0
    case .request: 1
    case .schedule: 2
    }
  }
}
