/// What a commit does with one message.
struct CommitItem: Sendable {
  let entryID: String
  let deliveryID: DeliveryID
  /// Its order line, if it keeps its order.
  let line: String?
  /// The id of the message in its order line, if it differs from ``deliveryID``.
  var lineId: [UInt8]?
  /// True if it is verified and its outcome holds only if it is the first of its line.
  var isOrdered = false
  /// How often it was delivered, if messages are leased.
  var delivered: Int64?
  /// The record of its delivery; empty if none is written.
  var record: [UInt8] = []
  /// True if the expiry of its record restarts.
  var isLate = false
  /// The event that it publishes.
  private(set) var event: EventRecord?
  /// True if it publishes an event. To compare the event with nil would copy it.
  private(set) var hasEvent = false
  /// True if the bytes that the sender sent are stored with the event, while a subscription asks for them.
  var keepsOriginal = false
  /// Its natural key.
  var claim: DeduplicationStore.Claim?
  /// If the natural key was claimed before: true leaves the message unchanged, so that ``Completion/whenSeen`` decides its outcome; false ends
  /// it as a duplicate.
  var holds = false
  /// The digest that is stored with the natural key.
  var detail: DeduplicationStore.Detail?
  /// A map of the fields that few messages have.
  var other: MessagePackWriter?

  /// True if the message may be settled by a ``PlainBatch``.
  var isPlain: Bool {
    guard other == nil, line == nil, detail == nil, !isLate, !record.isEmpty, delivered == nil else { return false }
    // Without a natural key, only the index shows whether the event was published before.
    return claim != nil || !hasEvent
  }

  mutating func publish(_ event: consuming EventRecord?) {
    hasEvent = event != nil
    self.event = event
  }

  init(_ message: LeasedMessage, isOrdered: Bool) {
    entryID = message.entryID
    deliveryID = message.deliveryID
    line = message.line
    self.isOrdered = isOrdered
    if !message.consumer.isEmpty { delivered = message.deliveryCount }
  }

  /// An entry that cannot be read.
  init(_ entry: UnreadableEntry, _ deliveryID: DeliveryID, delivered: Int64) {
    entryID = entry.entryID
    self.deliveryID = deliveryID
    line = entry.line
    lineId = entry.line == nil ? nil : entry.id
    self.delivered = delivered
  }
}
