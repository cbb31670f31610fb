import RedisClient

/// A rejected delivery whose body is stored.
struct RejectedDelivery: Sendable {
  let id: DeliveryID
  /// The message without its body.
  let message: QueueMessage
  let rejection: EarlierRejection
  /// Identifies the order line; nil for a message that keeps no order.
  let line: String?
  /// The entry of the index (rejected.lua).
  let entry: String

  /// Reads an element of the reply of find_rejected.lua; nil if it cannot be read.
  init?(_ reply: RedisReply) {
    guard let parts = reply.array, parts.count == 7, let id = parts[0].string.flatMap(DeliveryID.init), let kind = parts[1].string,
      let message = QueueMessage(kind: kind, body: [], envelope: parts[2].bytes ?? []), let line = parts[3].string,
      let reason = parts[4].string, let eventId = parts[5].string, let entry = parts[6].string, let time = Self.time(of: entry)
    else { return nil }
    self.id = id
    self.message = message
    rejection = EarlierRejection(eventId: eventId, reason: reason, time: time)
    self.line = line.isEmpty ? nil : line
    self.entry = entry
  }

  // MARK: Index

  /// The entry of a delivery in the index: its class, which consists of kind, reason and environment, the time of the rejection, and its id.
  static func entry(kind: String, reason: String, environment: String, time: Int64, id: DeliveryID) -> String {
    "\(kind) \(reason) \(environment) \(digits(time)) \(id)"
  }

  /// A time in the index, which is sorted as text: milliseconds since 1970 in 13 digits.
  static func digits(_ time: Int64) -> String {
    let text = String(min(max(0, time), maxTime))
    return String(repeating: "0", count: 13 - text.utf8.count) + text
  }

  private static let maxTime: Int64 = 9_999_999_999_999

  private static func time(of entry: String) -> Int64? {
    let parts = entry.split(separator: " ", omittingEmptySubsequences: false)
    return parts.count == 5 ? Int64(parts[3]) : nil
  }
}

/// Which rejected deliveries are judged again.
public struct RejectionFilter: Sendable {
  /// Nil for any.
  public var kind: String?
  /// Nil for any.
  public var reason: String?
  /// Only deliveries that were rejected at this time or later, milliseconds since 1970.
  public var start: Int64
  /// Only deliveries that were rejected before this time, milliseconds since 1970; nil for all up to now.
  public var end: Int64?

  public init(kind: String? = nil, reason: String? = nil, start: Int64 = 0, end: Int64? = nil) {
    self.kind = kind
    self.reason = reason
    self.start = start
    self.end = end
  }
}
