import AttributionQueue

/// Lets recoveries queue notifications only while few messages wait in the intake, so that new deliveries do not wait behind a whole
/// outage.
actor IntakeBackpressure {
  private let administration: QueueAdministration
  private let maxWaiting: Int64
  private let maxHeld: Int64
  /// The number of messages that may be queued before the next check.
  private(set) var room: Int64
  /// The number of messages that may be held back before the next check.
  private var heldRoom: Int64
  private var refreshedAt: ContinuousClock.Instant?

  /// How long a check of the queue is valid.
  private static let validity: Duration = .seconds(1)

  /// The limits of all recoveries together: `maxWaiting` waiting messages, and `maxHeld` messages held back.
  init(deliveries: DeliveryQueue, maxWaiting: Int, maxHeld: Int) {
    administration = QueueAdministration(deliveries: deliveries)
    self.maxWaiting = Int64(maxWaiting)
    // Held messages count against the limit of the backlog, at which ingest refuses new deliveries.
    self.maxHeld = Int64(min(maxHeld, max(1, deliveries.configuration.backlogBound / 4)))
    room = self.maxWaiting
    heldRoom = self.maxHeld
  }

  /// Waits until there is room, and reserves it for `messages`. Throws `CancellationError` if its task is cancelled.
  func reserve(_ messages: Int) async throws {
    while true {
      await refresh()
      if room > 0 {
        room -= Int64(messages)
        return
      }
      try await Task.sleep(for: .milliseconds(200))
    }
  }

  /// Waits until there is room for messages that are held back. Returns false, after a pause, if too many are held back.
  func reserveHeld(_ messages: Int) async throws -> Bool {
    try await reserve(messages)
    if heldRoom > 0 {
      heldRoom -= Int64(messages)
      return true
    }
    giveBack(messages)
    try await Task.sleep(for: .milliseconds(200))
    return false
  }

  /// Gives back what was reserved and not used.
  func giveBack(_ messages: Int) { room += Int64(messages) }

  private func refresh() async {
    guard refreshedAt.map({ ContinuousClock.now - $0 >= Self.validity }) ?? true else { return }
    // Set first, so that concurrent callers use the last result meanwhile.
    refreshedAt = .now
    // A failure is ignored here, because queueing a message reports it.
    guard let snapshot = try? await administration.snapshot(.intake) else { return }
    room = maxWaiting - snapshot.depth
    heldRoom = maxHeld - snapshot.delayed
  }
}
