import Synchronization

/// One shard as a worker knows it: whether it owns it, and whether it works it.
final class WorkerShard: Sendable {
  private struct State {
    var ownership: ShardOwnership?
    /// Up to here each message is counted before it is worked.
    var suspectedUntil: EntryID?
    var isWorking = false
    /// Whether something came while it was being worked.
    var wasWoken = false
    /// Whether it is to be given back as soon as it is not being worked.
    var isReleasing = false
    /// What is leased of it, where messages are.
    var leases: [LeaseToken] = []
    /// Before this no lease of it can have run out.
    var nextReclaim = ContinuousClock.now
  }

  let shard: Shard
  private let state = Mutex(State())

  init(_ shard: Shard) { self.shard = shard }

  var ownership: ShardOwnership? { state.withLock(\.ownership) }
  var suspectedUntil: EntryID? { state.withLock(\.suspectedUntil) }
  var leases: [LeaseToken] {
    get { state.withLock(\.leases) }
    set { state.withLock { $0.leases = newValue } }
  }
  var nextReclaim: ContinuousClock.Instant {
    get { state.withLock(\.nextReclaim) }
    set { state.withLock { $0.nextReclaim = newValue } }
  }
  /// Whether its work may go on.
  var isWanted: Bool { state.withLock { $0.ownership != nil && !$0.isReleasing } }

  func own(_ ownership: ShardOwnership, suspectedUntil: EntryID?) {
    state.withLock { state in
      // One that is to be given back is so under its next epoch too.
      if state.ownership == nil { state.isReleasing = false }
      state.ownership = ownership
      state.suspectedUntil = suspectedUntil
      state.leases = []
    }
  }

  /// This ownership is over: another has the shard. A later one stays.
  func lose(_ ownership: ShardOwnership) {
    state.withLock { state in
      guard state.ownership == ownership else { return }
      state.ownership = nil
      state.suspectedUntil = nil
      state.isReleasing = false
    }
  }

  func clearSuspicion() { state.withLock { $0.suspectedUntil = nil } }

  /// Something may be there: whether its work begins now. Where it is under way it looks again by itself.
  func wake() -> Bool {
    state.withLock { state in
      guard state.ownership != nil, !state.isReleasing else { return false }
      guard !state.isWorking else {
        state.wasWoken = true
        return false
      }
      state.isWorking = true
      state.wasWoken = false
      return true
    }
  }

  /// Its stream was found empty: whether its work ends. It goes on where something came meanwhile.
  func becomesIdle() -> Bool {
    state.withLock { state in
      if state.wasWoken, state.ownership != nil, !state.isReleasing {
        state.wasWoken = false
        return false
      }
      state.isWorking = false
      return true
    }
  }

  /// Its work ends, whatever came.
  func endWork() {
    state.withLock { state in
      state.isWorking = false
      state.leases = []
    }
  }

  /// It is to be given back: what to give back now, unless it is being worked.
  func beginRelease() -> ShardOwnership? {
    state.withLock { state in
      state.isReleasing = true
      guard !state.isWorking else { return nil }
      return Self.release(&state)
    }
  }

  /// What is to be given back now that its work has ended.
  func finishRelease() -> ShardOwnership? {
    state.withLock { state in
      guard state.isReleasing, !state.isWorking else { return nil }
      return Self.release(&state)
    }
  }

  private static func release(_ state: inout State) -> ShardOwnership? {
    defer {
      state.ownership = nil
      state.suspectedUntil = nil
      state.isReleasing = false
    }
    return state.ownership
  }
}
