/// The replicas that must confirm a command before its reply is passed on to the caller.
public struct RedisReplication: Sendable, Hashable {
  /// What the confirmation means.
  public enum Depth: Sendable, Hashable {
    /// The replicas have received the write, in memory (`WAIT`).
    case received
    /// The replicas and the primary have synced the write to disk (`WAITAOF`, since Redis 7.2).
    case onDisk
  }

  /// The number of replicas that must confirm.
  public var replicas: Int
  public var depth: Depth
  /// The time for which Redis waits for the replicas.
  public var timeout: Duration

  public init(replicas: Int, depth: Depth, timeout: Duration) {
    self.replicas = replicas
    self.depth = depth
    self.timeout = timeout
  }

  /// The command that asks for the confirmation. It is sent once after all commands of an event-loop turn.
  var command: [RedisArgument] {
    let milliseconds = RedisArgument.integer(max(1, Int64(timeout / .milliseconds(1))))
    switch depth {
    case .received: return ["WAIT", .integer(Int64(replicas)), milliseconds]
    case .onDisk: return ["WAITAOF", "1", .integer(Int64(replicas)), milliseconds]
    }
  }

  /// True if the reply to ``command`` says that enough replicas have confirmed.
  func isConfirmed(by reply: RedisReply) -> Bool {
    switch depth {
    case .received: return (reply.integer ?? 0) >= replicas
    case .onDisk:
      guard let counts = reply.array, counts.count == 2 else { return false }
      return (counts[0].integer ?? 0) >= 1 && (counts[1].integer ?? 0) >= replicas
    }
  }
}
