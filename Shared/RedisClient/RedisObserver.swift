/// Callbacks for metrics about a client. They are called on event loops and must not block.
public protocol RedisObserver: Sendable {
  /// A command, or several together, were sent.
  func sent()
  /// The reply to a command was received, or the command failed. `seconds` is the time since it was sent.
  func answered(_ command: String, seconds: Double)
  /// A command failed. `kind` is one of ``RedisError/kind``.
  func failed(_ kind: String)
  /// A connection was opened.
  func connected()
  /// A command must be sent again, because its slot is on another node (`moved`) or being moved (`ask`, `try_again`), or because the node
  /// cannot serve it now (`unsettled`).
  func redirected(_ kind: String)
}
