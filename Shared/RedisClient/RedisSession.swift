/// One connection to Redis. All commands of the session are sent over it. When it has ended, they fail.
public struct RedisSession: Sendable {
  let pool: RedisConnectionPool
  let connection: RedisConnection

  /// Sends several commands together. Returns their replies, including error replies. They are not confirmed by replicas
  /// (``RedisReplication``).
  ///
  /// - Parameters:
  ///   - ignored: the number of first replies that are dropped.
  ///   - name: the commands' name in metrics.
  public func send(_ commands: EncodedCommands, ignoring ignored: Int = 0, name: String) async throws(RedisError) -> [RedisReply] {
    try await pool.send(commands, ignoring: ignored, over: connection, name: name)
  }
}
