/// One connection to Redis: everything that is sent goes over it, or fails once it has ended.
public struct RedisSession: Sendable {
  let pool: RedisConnectionPool
  let connection: RedisConnection

  public var isOpen: Bool { connection.isOpen }

  /// Sends commands together, and answers with their replies. A refusal is a reply.
  ///
  /// - Parameters:
  ///   - ignored: how many of the first replies are not wanted.
  ///   - name: what the commands are called in metrics.
  public func send(_ commands: EncodedCommands, ignoring ignored: Int = 0, name: String) async throws(RedisError) -> [RedisReply] {
    try await pool.send(commands, ignoring: ignored, over: connection, name: name)
  }
}
