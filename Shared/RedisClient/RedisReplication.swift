/// The replication that a write needs before its reply counts.
public struct RedisReplication: Sendable, Hashable {
  /// What a replica must have done.
  public enum Depth: Sendable, Hashable {
    /// Received the write in memory (WAIT).
    case received
    /// Written it to disk, as must the primary (WAITAOF, Redis 7.2).
    case onDisk
  }

  public var replicas: Int
  public var depth: Depth
  /// How long Redis waits for the replicas.
  public var timeout: Duration

  public init(replicas: Int, depth: Depth, timeout: Duration) {
    self.replicas = replicas
    self.depth = depth
    self.timeout = timeout
  }

  /// The command that is sent once after each batch of commands.
  var question: [RedisArgument] {
    let milliseconds = RedisArgument.integer(max(1, Int64(timeout / .milliseconds(1))))
    switch depth {
    case .received: return ["WAIT", .integer(Int64(replicas)), milliseconds]
    case .onDisk: return ["WAITAOF", "1", .integer(Int64(replicas)), milliseconds]
    }
  }

  /// True if the reply confirms enough replicas.
  func isReached(_ reply: RedisReply) -> Bool {
    switch depth {
    case .received: return (reply.integer ?? 0) >= replicas
    case .onDisk:
      guard let counts = reply.array, counts.count == 2 else { return false }
      return (counts[0].integer ?? 0) >= 1 && (counts[1].integer ?? 0) >= replicas
    }
  }
}
