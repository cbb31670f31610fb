import RedisClient

/// Runs Redis queries concurrently. The Redis client pipelines them, whatever shards they belong to.
enum ConcurrentQueries {
  /// Runs a query for each id. Returns the results in the order of the ids, or throws the error of the first id that has one.
  static func all<Value: Sendable>(
    _ ids: [String], _ query: @escaping @Sendable (String) async throws(RedisError) -> Value
  ) async throws(RedisError) -> [Value] {
    let results = await withTaskGroup(of: (Int, Result<Value, RedisError>).self) { group in
      for (index, id) in ids.enumerated() {
        group.addTask {
          do throws(RedisError) { return (index, .success(try await query(id))) } catch { return (index, .failure(error)) }
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
