import Synchronization

/// A worker's view of one shard: whether the worker owns it, and whether it is working it.
final class WorkerShard: Sendable {
  private struct State {
    var ownership: ShardOwnership?
    /// The starts of messages up to this entry are counted, because a former owner may have crashed on one of them; nil if none are.
    var suspectedUntil: EntryID?
    var isWorking = false
    /// True if the shard was woken while it was being worked.
    var wasWoken = false
    /// The last message that accept.lua announced, in the format of a reply to XRANGE; empty if there is none.
    var announcement: [UInt8] = []
    /// The last entry that the worker has settled under this ownership.
    var settledUntil = EntryID(milliseconds: 0, number: 0)
    /// True if the shard is to be released as soon as it is not being worked.
    var isReleasing = false
    /// The worker's leases of messages that are being handled, in ``StoreForm/leased``.
    var leases: [LeaseToken] = []
    /// The time before which no lease of the shard can have expired.
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
  var settledUntil: EntryID {
    get { state.withLock(\.settledUntil) }
    set { state.withLock { $0.settledUntil = newValue } }
  }
  var nextReclaim: ContinuousClock.Instant {
    get { state.withLock(\.nextReclaim) }
    set { state.withLock { $0.nextReclaim = newValue } }
  }
  /// True if the shard is owned and not being worked.
  var isIdle: Bool { state.withLock { $0.ownership != nil && !$0.isWorking && !$0.isReleasing } }
  /// True if the worker owns the shard and is not to release it.
  var mayContinue: Bool { state.withLock { $0.ownership != nil && !$0.isReleasing } }

  func own(_ ownership: ShardOwnership, suspectedUntil: EntryID?) {
    state.withLock { state in
      // A shard that is marked for release keeps the mark under its next epoch.
      if state.ownership == nil { state.isReleasing = false }
      state.ownership = ownership
      state.suspectedUntil = suspectedUntil
      state.leases = []
      state.announcement = []
      state.settledUntil = EntryID(milliseconds: 0, number: 0)
    }
  }

  /// Ends this ownership because another worker has the shard. A later ownership is kept.
  func lose(_ ownership: ShardOwnership) {
    state.withLock { state in
      guard state.ownership == ownership else { return }
      state.ownership = nil
      state.suspectedUntil = nil
      state.isReleasing = false
    }
  }

  func clearSuspicion() { state.withLock { $0.suspectedUntil = nil } }

  /// Returns true if the caller must begin to work the shard. If the shard is being worked already, its stream will be read again.
  func wake(announcement: [UInt8] = []) -> Bool {
    state.withLock { state in
      guard state.ownership != nil, !state.isReleasing else { return false }
      if !announcement.isEmpty { state.announcement = announcement }
      guard !state.isWorking else {
        state.wasWoken = true
        return false
      }
      state.isWorking = true
      state.wasWoken = false
      return true
    }
  }

  /// Returns the announced message and removes it; nil if there is none.
  func takeAnnouncement() -> [UInt8]? {
    state.withLock { state in
      guard !state.announcement.isEmpty else { return nil }
      defer { state.announcement = [] }
      return state.announcement
    }
  }

  /// Called when the stream was found empty. Returns true if the work ends, false if the shard was woken meanwhile.
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

  /// Ends the work even if the shard was woken.
  func endWork() {
    state.withLock { state in
      state.isWorking = false
      state.leases = []
    }
  }

  /// Marks the shard for release. Returns the ownership to give back now, or nil if the shard is being worked.
  func beginRelease() -> ShardOwnership? {
    state.withLock { state in
      state.isReleasing = true
      guard !state.isWorking else { return nil }
      return Self.release(&state)
    }
  }

  /// Returns the ownership to give back after the work has ended, if the shard is marked for release.
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
