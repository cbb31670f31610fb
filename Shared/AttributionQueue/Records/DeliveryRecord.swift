import WireJSON

/// The stored state of a delivery.
public struct DeliveryRecord: Sendable, Hashable {
  public let id: DeliveryID
  public var state: DeliveryState
  public var queue: String
  public var kind: String
  /// When the delivery was received, milliseconds since 1970; nil if that is not known.
  public var acceptedAt: Int64?
  /// When the message was finished, milliseconds since 1970; nil if it is unfinished.
  public var completedAt: Int64?
  /// The number of attempts.
  public var attempts: Int
  /// The event that the delivery has published; nil if it has published none.
  public var eventId: String?
  /// Why the delivery was rejected, or how it was done.
  public var reason: String?
  /// The error of the last failed attempt.
  public var lastError: String?
  /// If the delivery was rejected and then judged again: the rejection.
  public var earlierRejection: EarlierRejection?
}

extension DeliveryRecord {
  /// The record of a delivery that is accepted.
  init(_ id: DeliveryID, accepted message: QueueMessage, in queue: QueueName) {
    self.init(
      id: id, state: .accepted, queue: queue.rawValue, kind: message.kind, acceptedAt: message.receivedAt, attempts: 0,
      earlierRejection: message.earlierRejection)
  }

  /// The record of a rejected delivery whose record has expired.
  init(_ rejected: RejectedDelivery) {
    self.init(
      id: rejected.id, state: .rejected, queue: QueueName.intake.rawValue, kind: rejected.message.kind,
      acceptedAt: rejected.message.receivedAt, completedAt: rejected.rejection.time, attempts: 1, eventId: rejected.rejection.eventId,
      reason: rejected.rejection.reason, earlierRejection: rejected.message.earlierRejection)
  }

  /// The record of a message whose attempt failed.
  init(_ lease: LeasedMessage) {
    self.init(lease.deliveryID, accepted: lease.message, in: lease.queue)
    attempts = lease.attempt
    lastError = lease.lastError
  }

  /// The stored JSON. Its member names have one letter, because Redis stores a record for each delivery.
  var json: [UInt8] {
    var writer = JSONWriter(reserving: 256)
    write(to: &writer)
    return writer.bytes
  }

  /// Writes ``json``.
  func write(to writer: inout JSONWriter) {
    Self.write(
      to: &writer, state: state, queue: queue, kind: kind, acceptedAt: acceptedAt, completedAt: completedAt, attempts: attempts,
      eventId: eventId, reason: reason, lastError: lastError, earlierRejection: earlierRejection?.text)
  }

  /// Writes the ``json`` of a record without making a value of this type, because every completed message writes one.
  static func write(
    to writer: inout JSONWriter, state: DeliveryState, queue: String, kind: String, acceptedAt: Int64?, completedAt: Int64?,
    attempts: Int, eventId: String?, reason: String?, lastError: String?, earlierRejection: String?
  ) {
    writer.beginObject()
    writer.key("s")
    writer.string(state.rawValue)
    writer.key("q")
    writer.string(queue)
    writer.key("k")
    writer.string(kind)
    if let acceptedAt {
      writer.key("a")
      writer.int(acceptedAt)
    }
    if let completedAt {
      writer.key("c")
      writer.int(completedAt)
    }
    writer.key("n")
    writer.int(attempts)
    if let eventId {
      writer.key("e")
      writer.string(eventId)
    }
    if let reason {
      writer.key("r")
      writer.string(reason)
    }
    if let lastError {
      writer.key("x")
      writer.string(lastError)
    }
    if let earlierRejection {
      writer.key("v")
      writer.string(earlierRejection)
    }
    writer.endObject()
  }

  /// Returns nil if the JSON is not a record.
  init?(_ id: DeliveryID, json: [UInt8]) {
    guard let object = try? JSONValue(parsing: json).objectValue,
      let state = object["s"]?.stringValue.flatMap(DeliveryState.init), let queue = object["q"]?.stringValue,
      let kind = object["k"]?.stringValue
    else { return nil }
    func text(_ name: String) -> String? { object[name]?.stringValue.flatMap { $0.isEmpty ? nil : $0 } }
    self.init(
      id: id, state: state, queue: queue, kind: kind, acceptedAt: object["a"]?.int64Value, completedAt: object["c"]?.int64Value,
      attempts: object["n"]?.int64Value.map { Int($0) } ?? 0, eventId: text("e"), reason: text("r"), lastError: text("x"),
      earlierRejection: text("v").flatMap { EarlierRejection($0) })
  }
}
