/// The consistency rules of the data in Redis, which ``StoreCheck`` checks. Each is named for what breaks it; the raw value is its name in
/// reports and in repair.lua.
public enum StoreRule: String, Sendable, Hashable, CaseIterable {
  /// A payload whose message is neither delayed nor in the set by deadline: the message would never be worked.
  case orphanedPayload = "orphaned_payload"
  /// A delayed message, or one in the set by deadline, without payload.
  case missingPayload = "missing_payload"
  /// A payload that is not a message in a known format.
  case unreadablePayload = "unreadable_payload"
  /// A message waits in an order line that does not contain it.
  case waitsOutsideLine = "waits_outside_line"
  /// A message waits although it is the first of its order line.
  case waitsAsFirst = "waits_as_first"
  /// An id in an order line whose message does not exist. As the first of the line, it would block the others.
  case lineOfNothing = "line_of_nothing"
  /// An entry of a ready stream or of the events that cannot be read.
  case unreadableEntry = "unreadable_entry"
  /// A message whose record is missing before its expiry.
  case messageWithoutRecord = "message_without_record"
  /// A record of an accepted delivery whose message does not exist.
  case recordWithoutMessage = "record_without_message"
  /// A record that cannot be read.
  case unreadableRecord = "unreadable_record"
  /// A dead letter whose record has another state.
  case letterOfAnother = "letter_of_another_state"
  /// An event that is missing in the index.
  case eventWithoutIndex = "event_without_index"
  /// An event that is in the stream twice.
  case eventTwice = "event_twice"
  /// An index entry without an event.
  case indexWithoutEvent = "index_without_event"
  /// A count of starts (suspect.lua) for an entry of the ready stream that does not exist.
  case suspectOfNothing = "suspect_of_nothing"
  /// A lease of an entry of the ready stream that does not exist.
  case leaseOfNothing = "lease_of_nothing"
  /// An ownership that cannot be parsed.
  case ownershipForm = "ownership_form"
  /// A shard with delayed messages that is missing in the schedule.
  case scheduleMissing = "schedule_missing"
  /// A key whose value has another type than its name implies.
  case wrongType = "wrong_type"
  /// A key with a shard's tag and an unknown name, perhaps of another version.
  case unknownKey = "unknown_key"

  /// True if this is only a notice: a key of another version is no fault.
  public var isNotice: Bool { self == .unknownKey }

  /// True if ``StoreRepair`` can repair a fault of this rule without loss.
  var isRepairable: Bool {
    switch self {
    case .orphanedPayload, .missingPayload, .waitsOutsideLine, .waitsAsFirst, .lineOfNothing, .eventWithoutIndex, .indexWithoutEvent,
      .suspectOfNothing, .leaseOfNothing, .scheduleMissing:
      true
    case .unreadablePayload, .unreadableEntry, .messageWithoutRecord, .recordWithoutMessage, .unreadableRecord, .letterOfAnother,
      .eventTwice, .ownershipForm, .wrongType, .unknownKey:
      false
    }
  }
}
