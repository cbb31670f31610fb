import AttributionQueue

/// Lets recoveries queue notifications only while few messages wait in the intake, so that new deliveries are not delayed by all
/// notifications of an outage. All recoveries of this instance share it.
actor IntakeBackpressure {
  private let administration: QueueAdministration
  private let maxWaiting: Int64
  private let maxHeld: Int64
  /// The number of messages that may be queued before the next check of the queue.
  private(set) var room: Int64
  /// The number of messages that may be held back before the next check of the queue.
  private var heldRoom: Int64
  private var refreshedAt: ContinuousClock.Instant?

  /// How long the result of a check of the queue is used.
  private static let validity: Duration = .seconds(1)

  /// - Parameters:
  ///   - maxWaiting: the number of ready messages from which nothing is queued.
  ///   - maxHeld: the number of delayed messages from which nothing is held back; at most a quarter of the queue's backlog limit is used.
  init(deliveries: DeliveryQueue, maxWaiting: Int, maxHeld: Int) {
    administration = QueueAdministration(deliveries: deliveries)
    self.maxWaiting = Int64(maxWaiting)
    // Held messages use up to a quarter of the queue's backlog limit, at which ingest refuses new deliveries.
    self.maxHeld = Int64(min(maxHeld, max(1, deliveries.configuration.backlogBound / 4)))
    room = self.maxWaiting
    heldRoom = self.maxHeld
  }

  /// Waits until there is room in the intake, and reserves it. The last reservation may exceed the room. Throws `CancellationError` if the
  /// task is cancelled.
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

  /// The same for messages that are held back. Returns false, after a pause, if too many messages are held back already.
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

  /// Gives back reserved room that was not used.
  func giveBack(_ messages: Int) { room += Int64(messages) }

  private func refresh() async {
    guard refreshedAt.map({ ContinuousClock.now - $0 >= Self.validity }) ?? true else { return }
    // Set before the query, so that concurrent callers use the last result while it runs.
    refreshedAt = .now
    // An error is ignored here, because queueing a message reports it.
    guard let snapshot = try? await administration.snapshot(.intake) else { return }
    room = maxWaiting - snapshot.depth
    heldRoom = maxHeld - snapshot.delayed
  }
}
