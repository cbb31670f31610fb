/// Callbacks for metrics about a client. They are called on event loops and must not block.
public protocol RedisObserver: Sendable {
  /// A command was sent.
  func sent()
  /// A command was answered or failed.
  func answered(_ command: String, seconds: Double)
  /// A command failed; `kind` is one of ``RedisError/kind``.
  func failed(_ kind: String)
  /// A connection was opened.
  func connected()
  /// A command was redirected and is sent again, because its slot is on another node or being moved, or because another node takes over.
  func redirected(_ kind: String)
}
