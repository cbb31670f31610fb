/// The contents of one shard of a queue, read in pages. The shard changes meanwhile, so suspected faults must be checked again.
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
    var entry: String
    var id: String
    /// The record; nil if there is none.
    var record: DeliveryState?
    /// True if the dead letter was written in addition to another outcome, which the record has.
    var isFinal: Bool
  }

  let queue: QueueName
  let shard: Shard
  /// The due times of delayed messages; infinity for a message that waits in its order line.
  var delayed: [String: Double] = [:]
  var deadlines: Set<String> = []
  var payloads: [String: Message] = [:]
  var ready: [String: Message] = [:]
  /// All entries of the ready stream.
  var entries: Set<String> = []
  /// Entries that cannot be read as messages.
  var unreadable: Set<String> = []
  /// The last entry of the ready stream that was read.
  var readyEnd = "0-0"
  var letters: [DeadLetterEntry] = []
  /// The last dead letter that was read.
  var lettersEnd = "0-0"
  /// Messages without a record.
  var unrecorded: Set<String> = []
  /// Entries whose attempts are counted.
  var suspects: [String] = []
  /// Leased entries.
  var leases: [String] = []
  /// The order lines and their ids in order.
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
