import AttributionProtocol
import EventLoops
import NIOPosix
import Synchronization
import Testing

@testable import ServiceRuntime

@Suite struct LoopBatchesTests {
  private let executor = EventLoopExecutor.all()[0]

  /// Calls `ask` concurrently in one turn of the event loop.
  private func together<Response: Sendable>(_ count: Int, _ ask: @escaping @Sendable (Int) async -> Response) async -> [Response] {
    let loop = executor.loop
    return await withCheckedContinuation { continuation in
      loop.execute {
        let executor = EventLoopExecutor.current(loop)
        let tasks = (0..<count).map { number in Task.immediate(executorPreference: executor) { await ask(number) } }
        Task {
          var responses: [Response] = []
          for task in tasks { responses.append(await task.value) }
          continuation.resume(returning: responses)
        }
      }
    }
  }

  @Test func `Requests of one turn are one call, and each caller gets its own answer`() async throws {
    let calls = Mutex<[[Int]]>([])
    let batches = LoopBatches<Int, Int>(maxItems: 100) { items, _ in
      calls.withLock { $0.append(items) }
      return items.map { $0 * 10 }
    }
    let responses = await together(5) { number in try? await batches.ask(number, within: .seconds(1)) }
    #expect(responses == [0, 10, 20, 30, 40])
    #expect(calls.withLock { $0 } == [[0, 1, 2, 3, 4]])
    #expect(await together(1) { number in try? await batches.ask(number + 7, within: .seconds(1)) } == [70])
    #expect(calls.withLock { $0.count } == 2)
  }

  @Test func `No call has more items than the limit`() async {
    let calls = Mutex<[Int]>([])
    let batches = LoopBatches<Int, Int>(maxItems: 3) { items, _ in
      calls.withLock { $0.append(items.count) }
      return items
    }
    #expect(await together(7) { number in try? await batches.ask(number, within: .seconds(1)) } == [0, 1, 2, 3, 4, 5, 6])
    #expect(calls.withLock { $0 } == [3, 3, 1])
  }

  @Test func `Requests with a much shorter timeout are sent separately`() async {
    let calls = Mutex<[Duration: [Int]]>([:])
    let batches = LoopBatches<Int, Int>(maxItems: 100) { items, time in
      calls.withLock { $0[time] = items }
      return items
    }
    _ = await together(4) { number in try? await batches.ask(number, within: .milliseconds(number < 2 ? 30 : 200)) }
    #expect(calls.withLock { $0 } == [.milliseconds(30): [0, 1], .milliseconds(200): [2, 3]])
  }

  @Test func `A call has the shortest timeout of its items`() async {
    let times = Mutex<[Duration]>([])
    let batches = LoopBatches<Int, Int>(maxItems: 100) { items, time in
      times.withLock { $0.append(time) }
      return items
    }
    _ = await together(3) { number in try? await batches.ask(number, within: .milliseconds([210, 201, 219][number])) }
    #expect(times.withLock { $0 } == [.milliseconds(201)])
  }

  @Test func `An error is returned to every caller, and so is an answer with a wrong number of items`() async {
    let failing = LoopBatches<Int, Int>(maxItems: 100) { _, _ throws(RPCError) in throw RPCError(.unavailable, "away") }
    let short = LoopBatches<Int, Int>(maxItems: 100) { items, _ in Array(items.dropLast()) }
    func code(_ batches: LoopBatches<Int, Int>) -> @Sendable (Int) async -> RPCCode? {
      { number in
        do throws(RPCError) {
          _ = try await batches.ask(number, within: .seconds(1))
          return nil
        } catch { return error.code }
      }
    }
    #expect(await together(3, code(failing)) == [.unavailable, .unavailable, .unavailable])
    #expect(await together(2, code(short)) == [.internal, .internal])
  }

  @Test func `Outside of an event loop, each request is a separate call`() async throws {
    let batches = LoopBatches<Int, Int>(maxItems: 100) { items, _ in items }
    #expect(try await batches.ask(3, within: .seconds(1)) == 3)
  }
}
