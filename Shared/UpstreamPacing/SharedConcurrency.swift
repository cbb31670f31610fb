public import RedisClient
import Synchronization

/// A limit on concurrent calls of all instances of a service. Each instance holds a share of the permits under a lease. The share follows
/// the demand of this instance and of the others.
///
/// ``run()`` renews the lease; without it there are no permits. The share of an instance that dies becomes free when its lease expires.
public final class SharedConcurrency: Sendable {
  private struct State {
    var permits = 0
    /// The permits must not be used after this time.
    var until = ContinuousClock.now
    var used = 0
    /// The greatest number of permits that were in use or wanted since the share was last adjusted.
    var peak = 0
    var storeIsUnavailable = false
  }

  /// The permits of all instances together.
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
  ///   - key: with a hash tag; all that share it must state the same total.
  ///   - instance: a name that no other instance has.
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

  /// The current share of this instance.
  public var permits: Int { state.withLock { Self.permits($0, maxShare, outagePolicy) } }

  /// Takes up to that many permits. Returns the number taken. Unmet demand soon raises this instance's share.
  public func take(_ wanted: Int) -> Int {
    state.withLock { state in
      state.peak = max(state.peak, min(maxShare, state.used + wanted))
      let taken = max(0, min(wanted, Self.permits(state, maxShare, outagePolicy) - state.used))
      state.used += taken
      return taken
    }
  }

  /// Returns permits.
  public func giveBack(_ permits: Int = 1) { state.withLock { $0.used = max(0, $0.used - permits) } }

  /// Renews the lease and adjusts the share to the demand until the task is cancelled, then gives up the share.
  public func run() async {
    while !Task.isCancelled {
      await fit()
      do { try await Task.sleep(for: min(lease / 4, .milliseconds(250))) } catch { break }
    }
    _ = await ask(wanted: 0, used: 0)
  }

  /// Renews the lease and adjusts the share once.
  func fit() async {
    let (wanted, used) = state.withLock { state in
      // At least one, so that the first call does not wait for the next renewal.
      let wanted = max(1, state.peak, state.used)
      state.peak = state.used
      return (min(maxShare, wanted), state.used)
    }
    let asked = ContinuousClock.now
    let permits = await ask(wanted: wanted, used: used)
    state.withLock { state in
      guard let permits else {
        state.storeIsUnavailable = true
        return
      }
      state.storeIsUnavailable = false
      state.permits = permits
      // The lease in Redis begins later than `asked`, so it cannot end before this time.
      state.until = asked + lease
    }
  }

  private func ask(wanted: Int, used: Int) async -> Int? {
    let reply = try? await Scripts.share.run(
      on: redis, keys: [key],
      arguments: [
        .string(instance), .integer(Int64(total)), .integer(Int64(wanted)), .integer(Int64(used)),
        .integer(max(1, lease.microseconds / 1000)),
      ], timeout: SharedRateLimit.storeTimeout)
    return (reply?.array?.first?.integer).map { Int($0) }
  }

  private static func permits(_ state: State, _ maxShare: Int, _ outagePolicy: StoreOutagePolicy) -> Int {
    if ContinuousClock.now < state.until { return state.permits }
    return state.storeIsUnavailable && outagePolicy == .limitsLocally ? maxShare : 0
  }
}
