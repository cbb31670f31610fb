public import AttributionProtocol

/// An event that a reader of a subscription has leased. It is acknowledged when the next one is requested. For the last event, or to
/// release one, call the methods here.
public struct ReceivedEvent: Sendable {
  public let event: CloudEvent
  /// The id of this delivery of the event at the server.
  public let ackId: String
  let reader: ReaderCore

  /// Acknowledges the event with the next call to the server, at the latest when the reader ends.
  public func acknowledge() { reader.leases.withLock { $0.finish(ackId) } }

  /// Releases the event, which is delivered again at once to any reader, and the later events of its subject that this reader has not
  /// begun.
  public func giveBack() { reader.leases.withLock { $0.release(ackId) } }
}
