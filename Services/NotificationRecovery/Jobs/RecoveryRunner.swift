import AppStore
import AttributionQueue
import Cryptography
import Logging
import RedisClient
import Synchronization

/// Finds jobs that nobody works on and works them, several at a time.
final class RecoveryRunner: Sendable {
  private let store: RecoveryStore
  private let client: AppStoreServerAPIClient
  private let deliveries: DeliveryQueue
  private let metrics: RecoveryMetrics
  private let logger: Logger
  private let maxJobs = 8
  private let active = Mutex<Set<String>>([])
  private let lastLook = Mutex(ContinuousClock.now)

  /// How often it is looked for jobs.
  private static let pause: Duration = .milliseconds(300)

  init(store: RecoveryStore, client: AppStoreServerAPIClient, deliveries: DeliveryQueue, metrics: RecoveryMetrics, logger: Logger) {
    self.store = store
    self.client = client
    self.deliveries = deliveries
    self.metrics = metrics
    self.logger = logger
  }

  /// Whether it has not looked for jobs in a long time.
  var isStalled: Bool { lastLook.withLock { ContinuousClock.now - $0 > .seconds(30) } }

  /// Until its task is cancelled.
  func run() async {
    await withDiscardingTaskGroup { group in
      while !Task.isCancelled {
        for job in await claimed() { group.addTask { await self.work(job.job, owner: job.owner) } }
        lastLook.withLock { $0 = .now }
        do { try await Task.sleep(for: Self.pause) } catch { break }
      }
      group.cancelAll()
    }
  }

  private func claimed() async -> [(job: RecoveryJob, owner: String)] {
    var found: [(job: RecoveryJob, owner: String)] = []
    do throws(RedisError) {
      let free = active.withLock { maxJobs - $0.count }
      guard free > 0 else { return [] }
      for id in try await store.runningIDs() where found.count < free {
        guard active.withLock({ !$0.contains(id) }) else { continue }
        let owner = RandomBytes.uuid()
        guard try await store.claim(id, owner: owner) else { continue }
        // Read after the claim: what the last owner stored is all there.
        guard let job = try await store.job(id), job.state == .running else {
          try await store.remove(running: id)
          try await store.release(id, owner: owner)
          continue
        }
        _ = active.withLock { $0.insert(id) }
        found.append((job, owner))
      }
    } catch {
      logger.debug("jobs cannot be looked for", metadata: ["reason": "\(error)"])
    }
    return found
  }

  private func work(_ job: RecoveryJob, owner: String) async {
    let work = RecoveryWork(client: client, deliveries: deliveries, store: store, owner: owner, metrics: metrics, logger: logger)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await work.run(job) }
      group.addTask { await self.keepLease(job.id, owner: owner) }
      // Whichever ends first ends the other: work without a lease stops, a lease without work is of no use.
      await group.next()
      group.cancelAll()
    }
    _ = active.withLock { $0.remove(job.id) }
  }

  private func keepLease(_ id: String, owner: String) async {
    var lastRenewal = ContinuousClock.now
    let lease = Duration.milliseconds(RecoveryStore.leaseMilliseconds)
    while true {
      do { try await Task.sleep(for: lease / 3) } catch { return }
      do throws(RedisError) {
        guard try await store.renew(id, owner: owner) else { return }
        lastRenewal = .now
      } catch {
        // Redis may be back before the lease is over; after that another may have it.
        guard ContinuousClock.now - lastRenewal < lease else { return }
      }
    }
  }
}
