/// The rule for repeating a call: the option `idempotency` of a method in `options.proto`.
public enum IdempotencyClass: Sendable, Hashable {
  /// The call may be repeated any number of times.
  case read(getAllowed: Bool)
  /// The message itself identifies the call; an `Idempotency-Key` is optional.
  case natural
  /// An `Idempotency-Key` is required.
  case keyed
}
