import RedisClient
public import Traces

/// A message that this worker holds: as the owner of its shard, or under a lease, as a ``DeadlineWorker`` and every worker in
/// ``StoreForm/leased`` do.
public final class LeasedMessage: Sendable {
  public let queue: QueueName
  public let deliveryID: DeliveryID
  public let message: QueueMessage
  /// The number of this attempt, from 1.
  public let attempt: Int
  /// Earlier failures, one per line.
  public let history: String
  /// Milliseconds since 1970; for a message that was accepted with one.
  public let deadline: Int64?
  let entryID: String
  /// For a lease, this and the consumer's name identify it, and every later step compares them. For an owned shard, it is how often the
  /// message was started.
  let deliveryCount: Int64
  let consumer: String
  /// Identifies the order line; nil for a message that keeps no order.
  let line: String?

  /// The span of the message's work; nil if its trace is not recorded.
  public let span: Span?

  public var shard: Shard { deliveryID.shard }

  /// The `traceparent` header for calls that the work makes.
  public var traceparent: String? { span?.traceparent ?? message.traceparent }

  /// The error in the last line of the history.
  var lastError: String? {
    guard !history.isEmpty, let line = history.split(separator: "\n").last, let space = line.firstIndex(of: " ") else { return nil }
    return String(line[line.index(after: space)...])
  }

  /// Identifies the order line of an entry of a ready stream.
  static func line(in fields: RedisReply) -> String? {
    var words = fields.elements
    while words.underestimatedCount >= 2 {
      if words.nextLetter() == UInt8(ascii: "o") { return words.nextString() }
      words.skip()
    }
    return nil
  }

  /// Reads an entry of a ready stream; nil if it cannot be read. `kindBefore` is the kind of the entry before: if the kind is the same, its
  /// string is reused.
  init?(
    queue: QueueName, entryID: String, fields: RedisReply, deliveryCount: Int64, consumer: String, kindBefore: String = "",
    tracer: Tracer = .off
  ) {
    var id: DeliveryID?
    var kind: String?
    var body: [UInt8]?
    var envelope: [UInt8] = []
    var worked: Int64 = 0
    var history = ""
    var deadline: Int64?
    var line: String?
    var words = fields.elements
    while words.underestimatedCount >= 2 {
      // Each name is one letter.
      switch words.nextLetter() {
      case UInt8(ascii: "i"): id = words.nextString().flatMap(DeliveryID.init)
      case UInt8(ascii: "k"): kind = words.nextString(like: kindBefore)
      case UInt8(ascii: "b"): body = words.nextBytes()
      case UInt8(ascii: "a"): envelope = words.nextBytes() ?? []
      case UInt8(ascii: "n"): worked = words.nextInteger() ?? 0
      case UInt8(ascii: "h"): history = words.nextString() ?? ""
      case UInt8(ascii: "r"): deadline = words.nextInteger().map { min(max($0, 0), 1 << 53) }
      case UInt8(ascii: "o"): line = words.nextString()
      default: words.skip()
      }
    }
    guard let id, let kind, let body else { return nil }
    // Moves the value out of the optional, which avoids a copy.
    var read = QueueMessage(kind: kind, body: body, envelope: envelope)
    guard let message = read.take() else { return nil }
    self.queue = queue
    deliveryID = id
    self.message = message
    // A number that was written by hand must not overflow where attempts are counted.
    attempt = Int(min(max(worked, 0), Int64(Int32.max)) + min(max(deliveryCount, 0), Int64(Int32.max)))
    self.history = history
    self.deadline = deadline
    self.entryID = entryID
    self.deliveryCount = deliveryCount
    self.consumer = consumer
    self.line = line
    span = tracer.processing(message, id, attempt: attempt, in: queue)
  }
}

/// Identifies a lease of a stream entry, together with the consumer's name. If a worker reclaims a message from itself, the delivery count
/// differs, so the two leases are told apart.
struct LeaseToken: Sendable, Hashable {
  let entryID: String
  let deliveryCount: Int64
}

extension LeasedMessage {
  var token: LeaseToken { LeaseToken(entryID: entryID, deliveryCount: deliveryCount) }
}
