import NIOCore

extension RedisConnectionHandler {
  /// A command that waits for its reply.
  struct PendingCommand {
    let continuation: Continuation
    let deadline: NIODeadline
    let name: String
    let start: NIODeadline
    /// True if replicas must confirm the command before its reply is passed on to the caller.
    let mustBeConfirmed: Bool
  }

  /// Several commands that were sent together, with the replies received so far.
  final class PendingBatch {
    let continuation: UnsafeContinuation<[RedisReply], any Error>
    let deadline: NIODeadline
    let name: String
    let start: NIODeadline
    /// The number of replies that are still to be dropped. They come first.
    var ignored: Int
    /// The number of replies that are still to be collected.
    var missing: Int
    var replies: [RedisReply] = []

    init(
      _ commands: EncodedCommands, ignoring ignored: Int, deadline: NIODeadline, name: String, start: NIODeadline,
      _ continuation: UnsafeContinuation<[RedisReply], any Error>
    ) {
      self.continuation = continuation
      self.deadline = deadline
      self.name = name
      self.start = start
      self.ignored = ignored
      missing = commands.count - ignored
      replies.reserveCapacity(missing)
    }
  }

  /// The receiver of a reply.
  enum PendingReply {
    case command(PendingCommand)
    case commands(PendingBatch)
    /// The reply to `WAIT` or `WAITAOF`, which follows the commands of an event-loop turn.
    case replication
    /// The reply to `ASKING`, which precedes a command. It is dropped.
    case ignored
  }
}
