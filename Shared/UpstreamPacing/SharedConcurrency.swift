public import RedisClient
import Synchronization

/// A limit on the concurrent calls of all instances of a service. Each instance has a share of the permits for the time of a lease. Redis
/// adjusts the shares to the demand of all instances (`share.lua`).
///
/// ``run()`` must run in a task: it gets the share and renews the lease. Without it there are no permits. When an instance dies, its share
/// becomes free at the end of its lease. Before a call, ``acquire(_:)`` takes a permit, and ``release(_:)`` returns it afterwards.
public final class SharedConcurrency: Sendable {
  private struct State {
    /// This instance's share.
    var permits = 0
    /// The end of the lease. Afterwards there are no permits.
    var leaseEnd = ContinuousClock.now
    /// The number of permits in use.
    var used = 0
    /// The greatest number of permits that were in use or requested since the share was last adjusted.
    var peakDemand = 0
    /// True if Redis did not reply to the last adjustment.
    var storeIsUnavailable = false
  }

  /// The number of permits of all instances together.
  public let total: Int
  /// The greatest share of this instance.
  public let maxShare: Int
  private let redis: RedisClient
  private let key: String
  private let instance: String
  private let lease: Duration
  private let outagePolicy: StoreOutagePolicy
  private let state = Mutex(State())

  /// - Parameters:
  ///   - key: the limit's key in Redis, with a hash tag. All instances that use it must have the same `total`.
  ///   - instance: this instance's name, which no other instance has.
  ///   - total: the number of permits of all instances together.
  ///   - maxShare: the greatest share of this instance.
  public init(
    redis: RedisClient, key: String, instance: String, total: Int, maxShare: Int, lease: Duration = .seconds(5),
    onOutage outagePolicy: StoreOutagePolicy
  ) {
    self.redis = redis
    self.key = key
    self.instance = instance
    self.total = max(1, total)
    self.maxShare = min(max(1, maxShare), max(1, total))
    self.lease = lease
    self.outagePolicy = outagePolicy
  }

  /// The present share of this instance.
  public var permits: Int { state.withLock { Self.permits($0, maxShare, outagePolicy) } }

  /// Takes up to that many permits, and returns their number. If these are fewer than requested, the share soon grows.
  public func acquire(_ requested: Int) -> Int {
    state.withLock { state in
      state.peakDemand = max(state.peakDemand, min(maxShare, state.used + requested))
      let acquired = max(0, min(requested, Self.permits(state, maxShare, outagePolicy) - state.used))
      state.used += acquired
      return acquired
    }
  }

  /// Returns permits.
  public func release(_ permits: Int = 1) { state.withLock { $0.used = max(0, $0.used - permits) } }

  /// Renews the lease and adjusts the share to the demand, until the task is cancelled. Then gives up the share.
  public func run() async {
    while !Task.isCancelled {
      await adjust()
      do { try await Task.sleep(for: min(lease / 4, .milliseconds(250))) } catch { break }
    }
    _ = await updateShare(demand: 0, used: 0)
  }

  /// Renews the lease and adjusts the share once.
  func adjust() async {
    let (demand, used) = state.withLock { state in
      // At least one, so that the first call need not wait for the next adjustment.
      let demand = max(1, state.peakDemand, state.used)
      state.peakDemand = state.used
      return (min(maxShare, demand), state.used)
    }
    let start = ContinuousClock.now
    let permits = await updateShare(demand: demand, used: used)
    state.withLock { state in
      guard let permits else {
        state.storeIsUnavailable = true
        return
      }
      state.storeIsUnavailable = false
      state.permits = permits
      // The lease in Redis begins after `start`, so it cannot end before this time.
      state.leaseEnd = start + lease
    }
  }

  /// Requests a share from Redis. Returns the permits of this instance; nil if Redis does not reply.
  private func updateShare(demand: Int, used: Int) async -> Int? {
    let reply = try? await Scripts.share.run(
      on: redis, keys: [key],
      arguments: [
        .string(instance), .integer(Int64(total)), .integer(Int64(demand)), .integer(Int64(used)),
        .integer(max(1, lease.microseconds / 1000)),
      ], timeout: SharedRateLimit.storeTimeout)
    return (reply?.array?.first?.integer).map { Int($0) }
  }

  /// The share if the lease is valid. Otherwise the policy for outages decides.
  private static func permits(_ state: State, _ maxShare: Int, _ outagePolicy: StoreOutagePolicy) -> Int {
    if ContinuousClock.now < state.leaseEnd { return state.permits }
    return state.storeIsUnavailable && outagePolicy == .limitsLocally ? maxShare : 0
  }
}
