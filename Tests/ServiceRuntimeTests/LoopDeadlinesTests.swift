import NIOCore
import Synchronization
import Testing

@testable import EventLoops

/// One test after the other, because waits of other tests on the same event loop cause earlier checks.
@Suite(.serialized) struct LoopDeadlinesTests {
  /// A wait that notes when it is checked.
  private final class NotedWait: Expiring {
    let dueAt: ContinuousClock.Instant?
    private let deadline: ContinuousClock.Instant
    private let state = Mutex((checks: [ContinuousClock.Instant](), isOver: false))

    init(deadline: ContinuousClock.Instant, hasFixedDeadline: Bool = true) {
      self.deadline = deadline
      dueAt = hasFixedDeadline ? deadline : nil
    }

    var checks: [ContinuousClock.Instant] { state.withLock { $0.checks } }
    var isOver: Bool { state.withLock { $0.isOver } }
    func end() { state.withLock { $0.isOver = true } }

    func endIfDue(at now: ContinuousClock.Instant) -> Bool {
      state.withLock { state in
        state.checks.append(now)
        if deadline <= now { state.isOver = true }
        return state.isOver
      }
    }
  }

  private let executor = EventLoopExecutor.all()[0]

  private func eventually(_ what: Comment, _ condition: () -> Bool) async throws {
    for _ in 0..<6000 where !condition() { try await Task.sleep(for: .milliseconds(10)) }
    #expect(condition(), what)
  }

  private func add(_ waits: [NotedWait]) async throws {
    let loop = executor.loop
    try await loop.submit {
      _ = EventLoopExecutor.current(loop)
      for wait in waits { LoopDeadlines.add(wait) }
    }.get()
  }

  @Test func `A wait ends at its deadline, not before`() async throws {
    let deadline = ContinuousClock.now + .milliseconds(20)
    let wait = NotedWait(deadline: deadline)
    try await add([wait])
    try await eventually("it ends") { wait.isOver }
    #expect(try #require(wait.checks.last) >= deadline)
  }

  @Test func `A wait that is due sooner is checked before the check that was scheduled for a later one`() async throws {
    let start = ContinuousClock.now
    let late = NotedWait(deadline: start + .seconds(3600))
    let soon = NotedWait(deadline: start)
    try await add([late, soon])
    // An event loop runs its tasks in the order of their times, however late. This one is before the check for the later wait alone.
    let time = TimeAmount.nanoseconds(Int64(LoopDeadlines.maxInterval / .nanoseconds(1)) / 2)
    let isOver = try await executor.loop.scheduleTask(in: time) { soon.isOver }.futureResult.get()
    #expect(isOver)
    late.end()
  }

  @Test func `While no wait is due soon, checks are rare; a wait whose deadline may change is checked each time`() async throws {
    let start = ContinuousClock.now
    let late = NotedWait(deadline: start + .seconds(3600))
    try await add([late])
    // Other tests may use the same event loop, so that some checks come earlier.
    try await eventually("the maximum interval is over before the next check") {
      zip(late.checks, late.checks.dropFirst()).contains { $1 - $0 >= LoopDeadlines.maxInterval }
    }
    late.end()
    let changing = NotedWait(deadline: start + .seconds(3600), hasFixedDeadline: false)
    try await add([changing])
    try await eventually("it is checked") { changing.checks.count >= 4 }
    #expect(zip(changing.checks, changing.checks.dropFirst()).allSatisfy { $1 - $0 >= LoopDeadlines.minInterval })
    changing.end()
    try await eventually("it is forgotten") { changing.checks.count > 4 }
  }
}
