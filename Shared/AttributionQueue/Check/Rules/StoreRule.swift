/// What has to agree in Redis, each rule named for what breaks it.
public enum StoreRule: String, Sendable, Hashable, CaseIterable {
  /// A payload whose message neither waits for a time nor by deadline: nobody will ever work it.
  case orphanedPayload = "orphaned_payload"
  /// A message waits, and what is to be worked is gone.
  case missingPayload = "missing_payload"
  /// A payload that is no message of a known form.
  case unreadablePayload = "unreadable_payload"
  /// A message waits for its turn, and its line does not know it.
  case waitsOutsideLine = "waits_outside_line"
  /// A message waits for its turn, and nothing stands before it in its line.
  case waitsAsFirst = "waits_as_first"
  /// A line holds up those behind for a message that is nowhere.
  case lineOfNothing = "line_of_nothing"
  /// An entry of a ready stream or of the events that cannot be read.
  case unreadableEntry = "unreadable_entry"
  /// A message whose record is gone before its time.
  case messageWithoutRecord = "message_without_record"
  /// A record that says that its message waits, and the message is nowhere.
  case recordWithoutMessage = "record_without_message"
  /// A record that cannot be read.
  case unreadableRecord = "unreadable_record"
  /// A dead letter whose record says that the delivery is no such.
  case letterOfAnother = "letter_of_another_state"
  /// An event that its index does not know.
  case eventWithoutIndex = "event_without_index"
  /// An event that stands in the stream a second time.
  case eventTwice = "event_twice"
  /// An index entry whose event is gone.
  case indexWithoutEvent = "index_without_event"
  /// A count of attempts at an entry that is gone.
  case suspectOfNothing = "suspect_of_nothing"
  /// A lease on an entry that is gone.
  case leaseOfNothing = "lease_of_nothing"
  /// An ownership that no worker can read.
  case ownershipForm = "ownership_form"
  /// A shard with delayed messages that nobody is told to look at.
  case scheduleMissing = "schedule_missing"
  /// A key that holds a value of another type than its name says.
  case wrongType = "wrong_type"
  /// A key with a shard's tag whose name is not known; another version's perhaps.
  case unknownKey = "unknown_key"

  /// Whether it is only told: a key of another version is no fault.
  public var isNotice: Bool { self == .unknownKey }

  /// Whether ``StoreMending`` can make it agree again without a loss.
  var canBeMended: Bool {
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
