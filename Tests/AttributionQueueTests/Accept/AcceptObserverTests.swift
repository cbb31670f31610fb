import RedisClient
import Synchronization
import Testing

@testable import AttributionQueue

@Suite struct AcceptObserverTests {
  /// The queues of accepted messages, in their order.
  private final class Accepted: Sendable {
    private let list = Mutex<[QueueName]>([])

    var queues: [QueueName] { list.withLock { $0 } }
    func add(_ queue: QueueName) { list.withLock { $0.append(queue) } }
  }

  /// Runs the body with an observed queue, and another process' queue on the same Redis.
  private func withObserved(
    _ configure: (inout QueueConfiguration) -> Void = { _ in },
    _ body: (DeliveryQueue, Accepted, DeliveryQueue) async throws -> Void
  ) async throws {
    try await withQueue(configure) { other, server in
      let accepted = Accepted()
      let client = try await server.client()
      let observed = try await DeliveryQueue.open(
        redis: client, configuration: other.configuration, logger: quietLogger, observeAccept: { accepted.add($0) })
      try await body(observed, accepted, other)
      client.close()
    }
  }

  @Test func `An accepted message is observed once, with its queue`() async throws {
    try await withObserved { queue, accepted, _ in
      _ = try await queue.accept(request("a"))
      _ = try await queue.accept(request("b", notBefore: DeliveryQueue.now + 60_000, queue: .gaps))
      _ = try await queue.accept(request("c", order: "o", keepsOrder: true))
      _ = try await queue.accept(request("d", queue: .tokens))
      #expect(accepted.queues == [.intake, .gaps, .intake, .tokens])
    }
  }

  @Test func `Duplicates are not observed, whichever process accepted the message`() async throws {
    try await withObserved { queue, accepted, other in
      _ = try await queue.accept(request("a"))
      #expect(try await queue.accept(request("a")).isDuplicate)
      _ = try await other.accept(request("b"))
      #expect(try await queue.accept(request("b")).isDuplicate)
      #expect(accepted.queues == [.intake])
    }
  }

  @Test func `A message that is accepted together with a value is observed; a later one for that value is not accepted`() async throws {
    try await withObserved { queue, accepted, _ in
      let record = OwnRecord(service: "tests", name: "kept", value: [1], ttl: .seconds(60))
      _ = try await queue.accept(request("a"), keeping: record)
      #expect(try await queue.accept(request("b", order: "a"), keeping: record) == .earlier([1]))
      #expect(accepted.queues == [.intake])
    }
  }

  @Test func `A refused message is not observed`() async throws {
    try await withObserved({ $0.backlogBound = Shard.count }) { queue, accepted, _ in
      _ = try await queue.accept(request("a", order: "o"))
      await #expect(throws: QueueError.backlogFull) { _ = try await queue.accept(request("b", order: "o")) }
      #expect(accepted.queues == [.intake])
    }
  }
}
