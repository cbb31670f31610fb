/// What was read of one shard of a queue, page by page: it changes meanwhile, so that what seems wrong in it is looked at again.
struct QueueView: Sendable {
  /// A message wherever it is.
  struct Message: Sendable, Hashable {
    /// Its entry in the ready stream; empty for one that waits.
    var entry = ""
    /// What its line is told by.
    var line: String?
    /// When its record was written for the last time, milliseconds since 1970, as far as the message tells; nil when it cannot be read.
    var recordedAt: Int64?
  }

  struct Letter: Sendable, Hashable {
    var entry: String
    var id: String
    /// What its record says; nil when there is none.
    var record: DeliveryState?
    /// Whether it was left beside another outcome, which the record tells.
    var isFinal: Bool
  }

  let queue: QueueName
  let shard: Shard
  /// When each delayed message is due; infinity for one that waits for its turn.
  var delayed: [String: Double] = [:]
  var deadlines: Set<String> = []
  var payloads: [String: Message] = [:]
  var ready: [String: Message] = [:]
  /// All entries of the ready stream.
  var entries: Set<String> = []
  /// Those that are no messages.
  var unreadable: Set<String> = []
  /// Up to here the ready stream is known.
  var readyEnd = "0-0"
  var letters: [Letter] = []
  /// Up to here the dead letters are known.
  var lettersEnd = "0-0"
  /// Messages that have no record.
  var unrecorded: Set<String> = []
  /// Entries whose attempts are counted.
  var suspects: [String] = []
  /// Entries under a lease of their own.
  var leases: [String] = []
  /// Lines and their ids in order.
  var lines: [String: [String]] = [:]
  /// Deliveries whose records say that they wait in this queue.
  var accepted: Set<String> = []

  init(_ queue: QueueName, _ shard: Shard) {
    self.queue = queue
    self.shard = shard
  }

  /// Whether a message of that id was seen anywhere.
  func has(_ id: String) -> Bool { delayed[id] != nil || deadlines.contains(id) || payloads[id] != nil || ready[id] != nil }

  /// Of those that wait for a time, the first time, milliseconds since 1970.
  var firstDue: Double? { delayed.values.filter(\.isFinite).min() }
}
