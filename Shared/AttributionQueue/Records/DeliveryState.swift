/// The state of a delivery.
public enum DeliveryState: String, Sendable, Hashable {
  /// The message is in its queue: it waits, is delayed, or is being processed.
  case accepted
  /// The message was verified and is finished.
  case verified
  /// The message failed verification and is finished.
  case rejected
  /// The message became a dead letter.
  case dead
  /// The message had nothing to verify, such as a token, and is finished; the reason in the record may say how.
  case done
}
