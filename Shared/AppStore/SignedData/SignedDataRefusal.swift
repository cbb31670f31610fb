/// Why data is refused, on the way to a verdict.
struct SignedDataRefusal: Error {
  let reason: SignedDataReason
  let field: String?

  init(_ reason: SignedDataReason, field: String? = nil) {
    self.reason = reason
    self.field = field
  }
}
