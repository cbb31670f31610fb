/// One connection to Redis. Everything is sent over it, and fails once it has ended.
public struct RedisSession: Sendable {
  let pool: RedisConnectionPool
  let connection: RedisConnection

  /// Sends several commands together. Returns their replies, including error replies.
  ///
  /// - Parameters:
  ///   - ignored: the number of replies at the beginning that are dropped.
  ///   - name: the commands' name in metrics.
  public func send(_ commands: EncodedCommands, ignoring ignored: Int = 0, name: String) async throws(RedisError) -> [RedisReply] {
    try await pool.send(commands, ignoring: ignored, over: connection, name: name)
  }
}
