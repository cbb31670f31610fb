/// The rule for repeating a call: the option `idempotency` of a method in `options.proto`.
public enum IdempotencyClass: Sendable, Hashable {
  /// The call changes nothing, so it may be repeated any number of times. `getAllowed` is true if it may also be a GET request.
  case read(getAllowed: Bool)
  /// The message itself identifies the call, so a repeated call has no further effect; an `Idempotency-Key` is optional.
  case natural
  /// An `Idempotency-Key` is required, by which the server recognizes a repeated call and returns the first answer.
  case keyed
}
