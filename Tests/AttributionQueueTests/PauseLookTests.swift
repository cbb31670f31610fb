import Testing

@testable import AttributionQueue

@Suite struct PauseLookTests {
  @Test func `Whoever looks after a queue was paused sees it, however many look at once`() async throws {
    try await withQueue { queue, _ in
      let look = PauseLook(queue: .intake, deliveries: queue)
      let administration = QueueAdministration(deliveries: queue)
      for isPaused in [false, true, false] {
        if isPaused { try await administration.pause(.intake) } else { try await administration.resume(.intake) }
        // Past the time for which an answer is believed.
        try await Task.sleep(for: .milliseconds(100))
        let answers = await withTaskGroup(of: Bool?.self) { group in
          for _ in 0..<64 { group.addTask { try? await look.isPaused() } }
          return await group.reduce(into: Set<Bool?>()) { $0.insert($1) }
        }
        #expect(answers == [isPaused])
      }
    }
  }

  @Test func `While Redis is away nobody is told that the queue is not paused`() async throws {
    try await withQueue { queue, server in
      let look = PauseLook(queue: .intake, deliveries: queue)
      #expect(try await look.isPaused() == false)
      await server.kill()
      try await Task.sleep(for: .milliseconds(100))
      await #expect(throws: QueueError.self) { _ = try await look.isPaused() }
      try server.start()
      try await eventually("it is asked again") { (try? await look.isPaused()) == false }
    }
  }
}
