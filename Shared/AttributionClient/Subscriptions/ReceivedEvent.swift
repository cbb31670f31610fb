public import AttributionProtocol

/// An event that a reader of a subscription holds. It is acknowledged when the next one is asked for; one that is the last, or that is not to
/// be acknowledged, is told so here.
public struct ReceivedEvent: Sendable {
  public let event: CloudEvent
  /// What stands for this delivery of the event at the server.
  public let ackId: String
  let reader: ReaderCore

  /// It was dealt with: told at the next occasion, and at the reader's end.
  public func acknowledge() { reader.leases.withLock { $0.finish(ackId) } }

  /// Others are to deal with it, or this reader later: it is handed out again at once, and those of its subject that this reader holds and
  /// has not begun with it.
  public func giveBack() { reader.leases.withLock { $0.giveBack(ackId) } }
}
