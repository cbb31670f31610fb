import Testing

@testable import ingest

@Suite struct DeadlineAnswerTests {
  @Test func `An answer before the deadline is used`() async {
    let answer = await DeadlineAnswer.wait(until: .now + .seconds(3600), otherwise: 0) { pending in
      #expect(pending.setBest(1))
      pending.finish(2)
      #expect(!pending.setBest(3))
    }
    #expect(answer == 2)
  }

  @Test func `At the deadline the best answer so far is used`() async {
    let (released, release) = AsyncStream.makeStream(of: Void.self)
    let answer = await DeadlineAnswer.wait(until: .now + .seconds(3600), otherwise: 0) { pending in
      pending.setBest(1)
      pending.replaceDeadline(with: .now + .milliseconds(20))
      for await _ in released {}
      pending.finish(2)
    }
    #expect(answer == 1)
    release.finish()
  }

  @Test func `Without an answer at the deadline the default is used`() async {
    let (released, release) = AsyncStream.makeStream(of: Void.self)
    let (told, tell) = AsyncStream.makeStream(of: Bool.self)
    let answer = await DeadlineAnswer.wait(until: .now + .milliseconds(20), otherwise: 7) { pending in
      for await _ in released {}
      tell.yield(pending.setBest(1))
      tell.finish()
    }
    #expect(answer == 7)
    release.finish()
    // A late answer learns that it was not used, so that the used answer is recorded.
    for await inTime in told { #expect(!inTime) }
  }

  @Test func `The deadline can be brought forward, and a deadline in the past ends the wait`() async {
    let (released, release) = AsyncStream.makeStream(of: Void.self)
    let answer = await DeadlineAnswer.wait(until: .now + .seconds(3600), otherwise: 0) { pending in
      pending.setBest(1)
      pending.replaceDeadline(with: .now - .seconds(1))
      for await _ in released {}
    }
    #expect(answer == 1)
    release.finish()
  }
}
