/// Callbacks for metrics about a client. They are called on event loops and must not block.
public protocol RedisObserver: Sendable {
  /// A command is on its way.
  func sent()
  /// It was answered, or never will be.
  func answered(_ command: String, seconds: Double)
  /// Why a command failed, in one word of few.
  func failed(_ kind: String)
  /// A connection stands, in place of another or as the first.
  func connected()
  /// A command was refused and is sent again: because its slot is elsewhere, or moves, or because another node takes over.
  func redirected(_ kind: String)
}
