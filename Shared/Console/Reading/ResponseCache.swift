import AttributionProtocol
import Synchronization

/// A short-lived cache of responses. One call serves all users who see a page at the same time, because `ListQueues` alone takes more than
/// a thousand commands to Redis: one for each queue and shard. Errors are cached too.
final class ResponseCache: Sendable {
  private struct Entry {
    let until: ContinuousClock.Instant
    let response: Task<Result<any Sendable, RPCError>, Never>
  }

  /// Shorter than the interval at which `console.js` updates a page, so that each update shows new data.
  private static let lifetime: Duration = .seconds(2)
  private static let maxEntries = 256
  private let entries = Mutex<[String: Entry]>([:])

  /// The response of a call, from the cache or new. If the same call is under way, its response is awaited.
  ///
  /// - Parameter key: the method and the request.
  func response<Response: Sendable>(_ key: String, _ call: @escaping @Sendable () async throws(RPCError) -> Response)
    async throws(RPCError) -> Response
  {
    let task = entries.withLock { entries in
      if let known = entries[key], known.until > .now { return known.response }
      let task = Task<Result<any Sendable, RPCError>, Never> {
        do throws(RPCError) { return .success(try await call()) } catch { return .failure(error) }
      }
      if entries.count >= Self.maxEntries { entries = entries.filter { $0.value.until > .now } }
      if entries.count < Self.maxEntries { entries[key] = Entry(until: .now + Self.lifetime, response: task) }
      return task
    }
    guard let response = try await task.value.get() as? Response else {
      throw RPCError(.internal, "the cache has a response of another type under this key")
    }
    return response
  }
}
