/// An error within the verifier, which becomes the reason and field of the verdict (``SignedDataVerdict``).
struct SignedDataRefusal: Error {
  let reason: SignedDataReason
  let field: String?

  init(_ reason: SignedDataReason, field: String? = nil) {
    self.reason = reason
    self.field = field
  }
}
