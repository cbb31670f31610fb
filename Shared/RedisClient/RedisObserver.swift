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
  /// A command is sent again: its slot is on another node (`moved`) or being moved (`ask`, `try_again`), or the node cannot serve it now
  /// (`unsettled`).
  func redirected(_ kind: String)
}
