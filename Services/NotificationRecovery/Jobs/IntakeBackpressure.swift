import AttributionQueue

/// Lets recoveries put more into the intake only while little waits there: what arrives meanwhile shares that queue, and must not wait
/// behind a whole outage.
actor IntakeBackpressure {
  private let administration: QueueAdministration
  private let most: Int64
  private let mostHeld: Int64
  /// How many may still be put in before it is looked again.
  private var room: Int64
  /// How many may still be held back.
  private var heldRoom: Int64
  private var lookedAt: ContinuousClock.Instant?

  /// How long one look at the queue is good.
  private static let validity: Duration = .seconds(1)

  /// `most` messages may wait, and `mostHeld` be held back: of all recoveries together.
  init(deliveries: DeliveryQueue, most: Int, mostHeld: Int) {
    administration = QueueAdministration(deliveries: deliveries)
    self.most = Int64(most)
    // What is held counts against the bound of the backlog, at which ingest refuses what is fresh.
    self.mostHeld = Int64(min(mostHeld, max(1, deliveries.configuration.backlogBound / 4)))
    room = self.most
    heldRoom = self.mostHeld
  }

  /// Returns when there is room, and counts `messages` into it. Throws `CancellationError` when its task is cancelled.
  func pass(_ messages: Int) async throws {
    while true {
      await look()
      if room > 0 {
        room -= Int64(messages)
        return
      }
      try await Task.sleep(for: .milliseconds(200))
    }
  }

  /// The same for messages that may be held back; false, after a moment, while too many are.
  func passHolding(_ messages: Int) async throws -> Bool {
    try await pass(messages)
    if heldRoom > 0 {
      heldRoom -= Int64(messages)
      return true
    }
    try await Task.sleep(for: .milliseconds(200))
    return false
  }

  private func look() async {
    guard lookedAt.map({ ContinuousClock.now - $0 >= Self.validity }) ?? true else { return }
    // Others go by the last look meanwhile.
    lookedAt = .now
    // Whether Redis answers is found out by whoever puts something in.
    guard let snapshot = try? await administration.snapshot(.intake) else { return }
    room = most - snapshot.depth
    heldRoom = mostHeld - snapshot.delayed
  }
}
