import RedisClient
public import Traces

/// A message that this worker has read from a ready stream, as the owner of the shard or under a lease. A ``DeadlineWorker`` leases
/// messages, and so does every worker in ``StoreForm/leased``.
public final class LeasedMessage: Sendable {
  public let queue: QueueName
  public let deliveryID: DeliveryID
  public let message: QueueMessage
  /// The number of this attempt, from 1.
  public let attempt: Int
  /// Earlier failures, one per line: a time in milliseconds since 1970, a space and an error.
  public let history: String
  /// Milliseconds since 1970; nil if the message was accepted without a deadline.
  public let deadline: Int64?
  let entryID: String
  /// For a leased message, the delivery count of the stream entry. With the name of the consumer it identifies the lease, and every later
  /// step compares both. For a message of an owned shard, how often it was started.
  let deliveryCount: Int64
  /// The name under which the message was leased; empty if the worker owns the shard.
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

  /// Identifies the order line of an entry of a ready stream; nil for a message that keeps no order.
  static func line(in fields: RedisReply) -> String? {
    var words = fields.elements
    while words.underestimatedCount >= 2 {
      if words.nextSingleByte() == UInt8(ascii: "o") { return words.nextString() }
      words.skip()
    }
    return nil
  }

  /// Reads an entry of a ready stream; nil if it cannot be read. accept.lua describes the fields. `kindBefore` is the kind of the entry
  /// before: if the kind is the same, its string is reused.
  init?(
    queue: QueueName, entryID: String, fields: RedisReply, deliveryCount: Int64, consumer: String, kindBefore: String = "",
    tracer: Tracer = .off
  ) {
    var id: DeliveryID?
    var kind: String?
    var body: [UInt8]?
    var envelope: [UInt8] = []
    var attemptsBefore: Int64 = 0
    var history = ""
    var deadline: Int64?
    var line: String?
    var words = fields.elements
    while words.underestimatedCount >= 2 {
      // Each name of a field is one letter.
      switch words.nextSingleByte() {
      case UInt8(ascii: "i"): id = words.nextString().flatMap(DeliveryID.init)
      case UInt8(ascii: "k"): kind = words.nextString(like: kindBefore)
      case UInt8(ascii: "b"): body = words.nextBytes()
      case UInt8(ascii: "a"): envelope = words.nextBytes() ?? []
      case UInt8(ascii: "n"): attemptsBefore = words.nextInteger() ?? 0
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
    attempt = Int(min(max(attemptsBefore, 0), Int64(Int32.max)) + min(max(deliveryCount, 0), Int64(Int32.max)))
    self.history = history
    self.deadline = deadline
    self.entryID = entryID
    self.deliveryCount = deliveryCount
    self.consumer = consumer
    self.line = line
    span = tracer.processing(message, id, attempt: attempt, in: queue)
  }
}

/// Identifies a lease of a stream entry, together with the name of the consumer. If a worker reclaims a message from itself, the delivery
/// count tells the two leases apart.
struct LeaseToken: Sendable, Hashable {
  let entryID: String
  let deliveryCount: Int64
}

extension LeasedMessage {
  var token: LeaseToken { LeaseToken(entryID: entryID, deliveryCount: deliveryCount) }
}
