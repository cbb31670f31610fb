public import RedisClient
import Synchronization

/// A bound on what all instances of a service do at once: each holds a part of the permits under a lease, fitted to what it wants and
/// to what the others want.
///
/// ``run()`` keeps the lease; without it there are no permits. When an instance dies, its part is free once its lease has ended.
public final class SharedConcurrency: Sendable {
  private struct State {
    var permits = 0
    /// The permits are nobody's past this moment.
    var until = ContinuousClock.now
    var used = 0
    /// The most that was in use or asked for since the part was last fitted.
    var peak = 0
    var storeIsAway = false
  }

  /// Permits of all instances together.
  public let total: Int
  /// The most that this instance takes of them.
  public let most: Int
  private let redis: RedisClient
  private let key: String
  private let instance: String
  private let lease: Duration
  private let absence: StoreOutagePolicy
  private let state = Mutex(State())

  /// - Parameters:
  ///   - key: with a hash tag; all that share it must state the same total.
  ///   - instance: a name that no other instance has.
  public init(
    redis: RedisClient, key: String, instance: String, total: Int, most: Int, lease: Duration = .seconds(5),
    whenStoreIsAway absence: StoreOutagePolicy
  ) {
    self.redis = redis
    self.key = key
    self.instance = instance
    self.total = max(1, total)
    self.most = min(max(1, most), max(1, total))
    self.lease = lease
    self.absence = absence
  }

  /// Permits of this instance at the moment.
  public var permits: Int { state.withLock { Self.permits($0, most, absence) } }

  /// Takes up to so many permits; how many were free. What was wished and not had raises this instance's part before long.
  public func take(_ wanted: Int) -> Int {
    state.withLock { state in
      state.peak = max(state.peak, min(most, state.used + wanted))
      let taken = max(0, min(wanted, Self.permits(state, most, absence) - state.used))
      state.used += taken
      return taken
    }
  }

  /// Gives permits back.
  public func giveBack(_ permits: Int = 1) { state.withLock { $0.used = max(0, $0.used - permits) } }

  /// Keeps the lease and fits the part to what is wanted, until the task is cancelled; then leaves.
  public func run() async {
    while !Task.isCancelled {
      await fit()
      do { try await Task.sleep(for: min(lease / 4, .milliseconds(250))) } catch { break }
    }
    _ = await ask(wanted: 0, used: 0)
  }

  /// Asks once for the part that fits.
  func fit() async {
    let (wanted, used) = state.withLock { state in
      // Never none: a first call must not wait for the next round.
      let wanted = max(1, state.peak, state.used)
      state.peak = state.used
      return (min(most, wanted), state.used)
    }
    let asked = ContinuousClock.now
    let permits = await ask(wanted: wanted, used: used)
    state.withLock { state in
      guard let permits else {
        state.storeIsAway = true
        return
      }
      state.storeIsAway = false
      state.permits = permits
      // Redis counts from later on: it ends there no sooner than here.
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

  private static func permits(_ state: State, _ most: Int, _ absence: StoreOutagePolicy) -> Int {
    if ContinuousClock.now < state.until { return state.permits }
    return state.storeIsAway && absence == .goesAlone ? most : 0
  }
}
