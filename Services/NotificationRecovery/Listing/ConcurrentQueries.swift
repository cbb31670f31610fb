import RedisClient

/// Runs queries concurrently. The Redis client pipelines them, whatever shards they belong to.
enum ConcurrentQueries {
  /// The results in the order of the ids.
  static func all<Value: Sendable>(
    _ ids: [String], _ ask: @escaping @Sendable (String) async throws(RedisError) -> Value
  ) async throws(RedisError) -> [Value] {
    let results = await withTaskGroup(of: (Int, Result<Value, RedisError>).self) { group in
      for (index, id) in ids.enumerated() {
        group.addTask {
          do throws(RedisError) { return (index, .success(try await ask(id))) } catch { return (index, .failure(error)) }
        }
      }
      var results: [Int: Result<Value, RedisError>] = [:]
      for await (index, result) in group { results[index] = result }
      return results
    }
    var values: [Value] = []
    for index in ids.indices {
      if let result = results[index] { values.append(try result.get()) }
    }
    return values
  }
}
