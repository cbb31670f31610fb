/// What a commit does with one message: the values that commit.lua, commit_plain.lua or a transaction needs about it.
struct CommitItem: Sendable {
  let entryID: String
  let deliveryID: DeliveryID
  /// Identifies the message's order line; nil if it keeps no order.
  let line: String?
  /// The id of the message in its order line, if it differs from ``deliveryID``.
  var lineId: [UInt8]?
  /// True if the message is verified and keeps its order: its outcome then counts only if it is the first of its line.
  var isOrdered = false
  /// The delivery count of the message's lease; nil if the worker owns the shard.
  var delivered: Int64?
  /// The record of the delivery; empty if none is written.
  var record: [UInt8] = []
  /// True if the expiry of the record restarts.
  var isLate = false
  /// The event that the message publishes.
  private(set) var event: EventRecord?
  /// True if the message publishes an event. Comparing the event with nil would copy it.
  private(set) var hasEvent = false
  /// True if the bytes that the sender sent are stored with the event while a subscription requests them.
  var keepsOriginal = false
  /// The claim of the message's natural key.
  var claim: DeduplicationStore.Claim?
  /// What happens if the natural key was claimed before: true leaves the message unchanged, so that ``Completion/whenClaimedBefore``
  /// decides its outcome; false finishes it as a duplicate.
  var staysIfClaimed = false
  /// The digest that is stored with the natural key.
  var detail: DeduplicationStore.Detail?
  /// A map of the fields that few messages have: `other` in commit.lua.
  var other: MessagePackWriter?

  /// True if the message may be settled by a ``PlainBatch``.
  var isPlain: Bool {
    guard other == nil, line == nil, detail == nil, !isLate, !record.isEmpty, delivered == nil else { return false }
    // Without a natural key, only the events index shows whether the event was published before, and only commit.lua reads it.
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

  /// The item of an entry that cannot be read.
  init(_ entry: UnreadableEntry, _ deliveryID: DeliveryID, delivered: Int64) {
    entryID = entry.entryID
    self.deliveryID = deliveryID
    line = entry.line
    lineId = entry.line == nil ? nil : entry.id
    self.delivered = delivered
  }
}
