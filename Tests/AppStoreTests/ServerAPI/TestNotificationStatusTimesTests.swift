import Testing

@testable import AppStore

@Suite struct TestNotificationStatusTimesTests {
  private struct Refused: Error {}

  /// The times of the questions, if the one with this number, from 1, is answered; and the answer.
  private func asked(untilAnswer number: Int) async throws -> (times: [Duration], answer: Int?) {
    var times: [Duration] = []
    let answer = try await TestNotificationStatusTimes.firstAnswer {
      times.append($0)
    } ask: {
      times.count == number ? number : nil
    }
    return (times, answer)
  }

  @Test func `The status is asked for 2, 5, 15 and 30 seconds after the request, and then not any more`() async throws {
    let result = try await asked(untilAnswer: 5)
    #expect(result.times == [.seconds(2), .seconds(5), .seconds(15), .seconds(30)] && result.answer == nil)
  }

  @Test(arguments: 1...4) func `After an answer there is no further question`(number: Int) async throws {
    let result = try await asked(untilAnswer: number)
    #expect(result.times == Array(TestNotificationStatusTimes.afterRequest.prefix(number)) && result.answer == number)
  }

  @Test func `An error ends the questions`() async {
    var times: [Duration] = []
    await #expect(throws: Refused.self) {
      _ = try await TestNotificationStatusTimes.firstAnswer {
        times.append($0)
      } ask: { () -> Int? in
        throw Refused()
      }
    }
    #expect(times == [.seconds(2)])
  }
}
