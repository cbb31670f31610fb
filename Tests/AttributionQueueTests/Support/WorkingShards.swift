import Testing

@testable import AttributionQueue

/// Tests with a worker whose shards are owned.
protocol WorkingShards {}

extension WorkingShards {
  static var verifying: @Sendable (LeasedMessage) async -> WorkOutcome {
    { lease in .complete(verified(lease.message.attributes["natural"] ?? "")) }
  }

  /// Runs a worker while the body runs.
  func working(
    _ queue: DeliveryQueue, handler: @escaping @Sendable (LeasedMessage) async -> WorkOutcome = Self.verifying,
    while body: (ShardWorker) async throws -> Void
  ) async throws {
    let worker = ShardWorker(queue: .intake, deliveries: queue, pace: .random(), handler: handler)
    let run = Task { await worker.run() }
    let result: Result<Void, any Error>
    do { result = .success(try await body(worker)) } catch { result = .failure(error) }
    worker.stop()
    await run.value
    try result.get()
  }
}
