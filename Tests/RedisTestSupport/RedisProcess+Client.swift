import Logging
public import RedisClient

extension RedisProcess {
  /// A client whose log is discarded. `credentials` are placed before an @.
  public func client(
    credentials: String = "", query: String = "", _ configure: (inout RedisClient.Configuration) -> Void = { _ in }
  ) throws -> RedisClient {
    var configuration = RedisClient.Configuration()
    configure(&configuration)
    return RedisClient(
      url: try RedisURL("unix://\(credentials)\(socket)\(query)"), configuration: configuration,
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
  }

  /// Returns a client once Redis answers, after it has read its files.
  public func readyClient() async throws -> RedisClient {
    let client = try client()
    for _ in 0..<2000 {
      if (try? await client.send(["PING"])) != nil { return client }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw RedisError.unavailable("the test's Redis does not answer")
  }
}

/// Runs the body with a fresh Redis.
public func withRedisProcess(_ settings: [String] = [], _ body: (RedisProcess) async throws -> Void) async throws {
  let redis = try RedisProcess(settings)
  do { try await body(redis) } catch {
    await redis.remove()
    throw error
  }
  await redis.remove()
}

/// Runs the body with a fresh Redis that keeps its data in memory, and a client of it.
public func withRedis(_ body: (RedisClient, RedisProcess) async throws -> Void) async throws {
  try await withRedisProcess { redis in
    let client = try await redis.readyClient()
    try await body(client, redis)
    client.close()
  }
}
