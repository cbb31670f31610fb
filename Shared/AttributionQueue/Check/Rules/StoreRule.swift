/// Consistency rules of the data in Redis. Each is named for what breaks it.
public enum StoreRule: String, Sendable, Hashable, CaseIterable {
  /// A payload whose message is neither delayed nor waiting by deadline: it would never be worked.
  case orphanedPayload = "orphaned_payload"
  /// A waiting message without payload.
  case missingPayload = "missing_payload"
  /// A payload that is not a message of a known form.
  case unreadablePayload = "unreadable_payload"
  /// A message waits in an order line that does not contain it.
  case waitsOutsideLine = "waits_outside_line"
  /// A message waits although it is the first of its order line.
  case waitsAsFirst = "waits_as_first"
  /// An order line begins with a message that does not exist, which blocks the others.
  case lineOfNothing = "line_of_nothing"
  /// An entry of a ready stream or of the events that cannot be read.
  case unreadableEntry = "unreadable_entry"
  /// A message whose record is missing before its expiry.
  case messageWithoutRecord = "message_without_record"
  /// A record of a waiting message that does not exist.
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
  /// A count of attempts for an entry that does not exist.
  case suspectOfNothing = "suspect_of_nothing"
  /// A lease on an entry that does not exist.
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

  /// True if ``StoreRepair`` can repair it without loss.
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
