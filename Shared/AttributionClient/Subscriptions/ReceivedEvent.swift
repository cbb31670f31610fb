public import AttributionProtocol

/// An event that a reader of a subscription has leased. Requesting the next event acknowledges it. Call ``acknowledge()`` if no further
/// event is requested, and ``giveBack()`` if the event cannot be processed now.
public struct ReceivedEvent: Sendable {
  public let event: CloudEvent
  /// The id of this delivery of the event at the server.
  public let ackId: String
  let reader: ReaderCore

  /// Acknowledges the event. The acknowledgement is sent in the background, at the latest when the reader ends.
  public func acknowledge() { reader.leases.withLock { $0.finish(ackId) } }

  /// Releases the event and the later events of its subject that this reader has not begun. They are delivered again at once, to any
  /// reader.
  public func giveBack() { reader.leases.withLock { $0.release(ackId) } }
}
