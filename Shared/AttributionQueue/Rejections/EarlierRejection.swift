/// The rejection of a delivery that is judged again (``DeliveryQueue/reverify(_:)``).
public struct EarlierRejection: Sendable, Hashable {
  /// The id of the rejection's event.
  public let eventId: String
  public let reason: String
  /// When the delivery was rejected, milliseconds since 1970.
  public let time: Int64
}

extension EarlierRejection {
  /// The message attribute that holds ``text``.
  static let attribute = "earlierRejection"

  /// The stored form, such as `1700000000000 wrong_app rejected:017-…`.
  var text: String { "\(time) \(reason) \(eventId)" }

  /// Returns nil for text that is not in the format of ``text``.
  init?(_ text: String) {
    let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
    guard parts.count == 3, let time = Int64(parts[0]) else { return nil }
    self.init(eventId: String(parts[2]), reason: String(parts[1]), time: time)
  }
}

extension QueueMessage {
  /// Not nil if the delivery was rejected before and is judged again.
  public var earlierRejection: EarlierRejection? { attributes[EarlierRejection.attribute].flatMap { EarlierRejection($0) } }
}
