import AttributionProtocol
import Synchronization

/// A short-lived cache of responses. It makes one query for all readers of a page, because counting the queues alone takes more than a
/// thousand commands to Redis.
final class ResponseCache: Sendable {
  private struct Entry {
    let until: ContinuousClock.Instant
    let response: Task<Result<any Sendable, RPCError>, Never>
  }

  private static let life: Duration = .seconds(2)
  private static let maxEntries = 256
  private let entries = Mutex<[String: Entry]>([:])

  /// The response to a query, from the cache or new.
  func response<Response: Sendable>(_ question: String, _ ask: @escaping @Sendable () async throws(RPCError) -> Response)
    async throws(RPCError) -> Response
  {
    let task = entries.withLock { entries in
      if let known = entries[question], known.until > .now { return known.response }
      let task = Task<Result<any Sendable, RPCError>, Never> {
        do throws(RPCError) { return .success(try await ask()) } catch { return .failure(error) }
      }
      if entries.count >= Self.maxEntries { entries = entries.filter { $0.value.until > .now } }
      if entries.count < Self.maxEntries { entries[question] = Entry(until: .now + Self.life, response: task) }
      return task
    }
    guard let response = try await task.value.get() as? Response else { throw RPCError(.internal, "a question has two kinds of answer") }
    return response
  }
}
