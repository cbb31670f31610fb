import RedisClient

/// Waits until Redis answers, for at most 20 s.
func untilReady(_ client: RedisClient) async throws {
  let until = ContinuousClock.now + .seconds(20)
  while true {
    do {
      _ = try await client.sendAllowingErrors(["PING"])
      return
    } catch {
      guard ContinuousClock.now < until else { throw error }
      try await Task.sleep(for: .milliseconds(10))
    }
  }
}
