/// Callbacks for a client's subscriptions (`SSUBSCRIBE`). They are called on event loops and must not block.
public struct RedisSubscription: Sendable {
  /// Called for each message.
  let onMessage: @Sendable (_ channel: String, _ message: [UInt8]) -> Void
  /// Called when a subscription has ended: by `SUNSUBSCRIBE`, with the connection, or because the channel's slot moved to another node.
  let onEnd: @Sendable (_ channel: String) -> Void

  public init(
    onMessage: @escaping @Sendable (_ channel: String, _ message: [UInt8]) -> Void, onEnd: @escaping @Sendable (_ channel: String) -> Void
  ) {
    self.onMessage = onMessage
    self.onEnd = onEnd
  }
}
