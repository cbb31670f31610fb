import RedisClient
import Testing

@testable import AttributionQueue

@Suite("The form of the data in Redis")
struct StoreFormTests {
  @Test("an empty Redis begins with the newest form, and one that an older build began has the first")
  func begins() async throws {
    try await withQueue { queue, server in
      #expect(try await queue.form == .newest)
      #expect(try await queue.send(["GET", .string(Keys.form)]).string == "2")
      _ = try await queue.send(["DEL", .string(Keys.form)])
      let later = try await DeliveryQueue.open(redis: try await server.client(), configuration: QueueConfiguration(), logger: quietLogger)
      #expect(try await later.form == .leased)
      #expect(try await queue.send(["EXISTS", .string(Keys.form)]).integer == 0)
    }
  }

  @Test("an unknown form is refused by name, at the start and later", arguments: ["3", "0", "x"])
  func refuses(form: String) async throws {
    try await withQueue { queue, server in
      #expect(try await queue.form == .owned)
      _ = try await queue.send(["SET", .string(Keys.form), .string(form)])
      let client = try await server.client()
      await #expect(throws: QueueError.unknownForm(form)) {
        _ = try await DeliveryQueue.open(redis: client, configuration: QueueConfiguration(), logger: quietLogger)
      }
      #expect("\(QueueError.unknownForm(form))".contains("has form \(form), and this build knows forms 1 and 2"))
      try await eventually("an instance that runs notices it") {
        do throws(QueueError) {
          _ = try await queue.form
          return false
        } catch { return error == .unknownForm(form) }
      }
    }
  }
}
