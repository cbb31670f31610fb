/// Callbacks for a client's subscriptions (`SSUBSCRIBE`). They are called on event loops and must not block.
public struct RedisSubscription: Sendable {
  /// A message came.
  let onMessage: @Sendable (_ channel: String, _ message: [UInt8]) -> Void
  /// A channel is not subscribed to any more: the connection ended, or its slot went to another node.
  let onEnd: @Sendable (_ channel: String) -> Void

  public init(
    onMessage: @escaping @Sendable (_ channel: String, _ message: [UInt8]) -> Void, onEnd: @escaping @Sendable (_ channel: String) -> Void
  ) {
    self.onMessage = onMessage
    self.onEnd = onEnd
  }
}
