/// The contents of one shard of a queue, as ``QueueReader`` read them in pages. The shard changes meanwhile, so faults found here are only
/// suspected and must be confirmed (``MessageFacts``).
struct QueueView: Sendable {
  /// A message in any state.
  struct Message: Sendable, Hashable {
    /// The entry in the ready stream; empty for a waiting message.
    var entry = ""
    /// Identifies the order line.
    var line: String?
    /// When the record was last written according to the message, milliseconds since 1970; nil if the message cannot be read.
    var recordedAt: Int64?
  }

  struct DeadLetterEntry: Sendable, Hashable {
    /// The entry in the stream of dead letters.
    var entry: String
    /// The delivery id.
    var id: String
    /// The state in the delivery's record; nil if there is no record.
    var record: DeliveryState?
    /// True if the dead letter can never be replayed. It may have been written in addition to another outcome, which the record then has.
    var isFinal: Bool
  }

  let queue: QueueName
  let shard: Shard
  /// The due times of delayed messages; infinity for a message that waits in its order line.
  var delayed: [String: Double] = [:]
  /// The ids of messages in the set by deadline.
  var deadlines: Set<String> = []
  /// Delayed messages and messages in the set by deadline, by id.
  var payloads: [String: Message] = [:]
  /// Messages of the ready stream, by id.
  var ready: [String: Message] = [:]
  /// All entries of the ready stream.
  var entries: Set<String> = []
  /// Entries that cannot be read as messages.
  var unreadable: Set<String> = []
  /// The last entry of the ready stream that was read.
  var readyEnd = "0-0"
  var deadLetters: [DeadLetterEntry] = []
  /// The last dead letter that was read.
  var deadLettersEnd = "0-0"
  /// The ids of messages whose record is missing before its expiry.
  var unrecorded: Set<String> = []
  /// Entries whose starts are counted (suspect.lua).
  var suspects: [String] = []
  /// Leased entries.
  var leases: [String] = []
  /// The delivery ids of each order line, in order, by the name of the line.
  var lines: [String: [String]] = [:]
  /// Deliveries that wait in this queue according to their records.
  var accepted: Set<String> = []

  init(_ queue: QueueName, _ shard: Shard) {
    self.queue = queue
    self.shard = shard
  }

  /// True if a message with that id was found in any state.
  func has(_ id: String) -> Bool { delayed[id] != nil || deadlines.contains(id) || payloads[id] != nil || ready[id] != nil }

  /// The earliest due time, milliseconds since 1970.
  var firstDue: Double? { delayed.values.filter(\.isFinite).min() }
}
