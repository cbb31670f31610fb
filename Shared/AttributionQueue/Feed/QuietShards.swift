import Synchronization

/// The shards of pulled subscriptions in which a pull finds nothing until another event is published there: the subscription had read all
/// events up to a position, and none of them was leased.
///
/// Pulls leave these shards out, because one script call for each of the 256 shards costs Redis far more than one query for new events.
/// Positions become wrong if data is lost, or while a seek moves the subscription. A finished seek changes the subscription, and positions
/// are discarded after ``maxAge``. So an event may be returned late by that time, but it is never missed.
final class QuietShards: Sendable {
  /// The positions of one state of a subscription. They are discarded together.
  struct Positions {
    /// Identifies this value, so that one that was discarded cannot be changed.
    fileprivate let number: UInt64
    /// The last event of each quiet shard.
    fileprivate(set) var byShard: [Shard: EntryID] = [:]
    fileprivate let subscription: EventSubscription
    fileprivate let until: ContinuousClock.Instant
  }

  private struct State {
    /// By the name of the subscription.
    var positions: [String: Positions] = [:]
    var number: UInt64 = 0
  }

  /// How long positions are used.
  static let maxAge: Duration = .seconds(5)

  private let maxAge: Duration
  private let state = Mutex(State())

  init(maxAge: Duration = QuietShards.maxAge) { self.maxAge = maxAge }

  /// The positions of a subscription; none if they are too old, or from another state of the subscription.
  func positions(of subscription: EventSubscription, now: ContinuousClock.Instant = .now) -> Positions {
    state.withLock { state in
      if let known = state.positions[subscription.name], known.subscription == subscription, known.until > now { return known }
      // Also removes the positions of subscriptions that nobody pulls any more.
      state.positions = state.positions.filter { $0.value.until > now }
      state.number += 1
      let fresh = Positions(number: state.number, subscription: subscription, until: now + maxAge)
      state.positions[subscription.name] = fresh
      return fresh
    }
  }

  /// Records that a pull found nothing in a shard whose last event has this id. Ignored if the positions were discarded meanwhile.
  func add(_ shard: Shard, last: EntryID, to positions: Positions) {
    update(positions) { $0.byShard[shard] = last }
  }

  /// Removes shards that have new events.
  func remove(_ shards: Set<Shard>, from positions: Positions) {
    update(positions) { for shard in shards { $0.byShard[shard] = nil } }
  }

  /// Discards the positions of a subscription.
  func discard(_ name: String) { state.withLock { $0.positions[name] = nil } }

  private func update(_ positions: Positions, _ change: (inout Positions) -> Void) {
    let name = positions.subscription.name
    state.withLock { state in
      guard var known = state.positions.removeValue(forKey: name) else { return }
      if known.number == positions.number { change(&known) }
      state.positions[name] = known
    }
  }
}
