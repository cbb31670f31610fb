import AttributionProtocol

/// The key in a call's `Idempotency-Key` header, without the quotation marks that may be around it.
struct IdempotencyKey: Sendable, Hashable {
  /// The error of a call without the header, of a method that needs it.
  static let missing = RPCError(
    .invalidArgument, "this method needs an Idempotency-Key header", reason: "IDEMPOTENCY_KEY_REQUIRED")

  let text: String

  init(header: String) throws(RPCError) {
    var text = header
    if text.utf8.count >= 2, text.hasPrefix("\""), text.hasSuffix("\"") { text = String(text.dropFirst().dropLast()) }
    guard (1...255).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
      throw RPCError(
        .invalidArgument, "Idempotency-Key must be 1 to 255 visible ASCII characters", reason: "IDEMPOTENCY_KEY_INVALID")
    }
    self.text = text
  }
}
