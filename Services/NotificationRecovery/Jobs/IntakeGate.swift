import AttributionQueue

/// Lets recoveries put more into the intake only while little waits there: what arrives meanwhile shares that queue, and must not wait
/// behind a whole outage.
actor IntakeGate {
  private let administration: QueueAdministration
  private let most: Int64
  /// How many may still be put in before it is looked again.
  private var room: Int64
  private var lookedAt: ContinuousClock.Instant?

  /// How long one look at the queue is good.
  private static let validity: Duration = .seconds(1)

  /// `most` messages may wait.
  init(deliveries: DeliveryQueue, most: Int) {
    administration = QueueAdministration(deliveries: deliveries)
    self.most = Int64(most)
    room = Int64(most)
  }

  /// Returns when there is room, and counts `messages` into it. Throws `CancellationError` when its task is cancelled.
  func pass(_ messages: Int) async throws {
    while true {
      if lookedAt.map({ ContinuousClock.now - $0 >= Self.validity }) ?? true {
        // Others go by the last look meanwhile.
        lookedAt = .now
        // Whether Redis answers is found out by whoever puts something in.
        if let depth = try? await administration.snapshot(.intake).depth { room = most - depth }
      }
      if room > 0 {
        room -= Int64(messages)
        return
      }
      try await Task.sleep(for: .milliseconds(200))
    }
  }
}
