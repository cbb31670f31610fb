import RedisClient

/// Runs queries concurrently. The Redis client pipelines them, whatever shards they belong to.
enum ConcurrentQueries {
  /// The results in the order of the ids.
  static func all<Value: Sendable>(
    _ ids: [String], _ ask: @escaping @Sendable (String) async throws(RedisError) -> Value
  ) async throws(RedisError) -> [Value] {
    let answers = await withTaskGroup(of: (Int, Result<Value, RedisError>).self) { group in
      for (index, id) in ids.enumerated() {
        group.addTask {
          do throws(RedisError) { return (index, .success(try await ask(id))) } catch { return (index, .failure(error)) }
        }
      }
      var answers: [Int: Result<Value, RedisError>] = [:]
      for await (index, answer) in group { answers[index] = answer }
      return answers
    }
    var values: [Value] = []
    for index in ids.indices {
      if let answer = answers[index] { values.append(try answer.get()) }
    }
    return values
  }
}
