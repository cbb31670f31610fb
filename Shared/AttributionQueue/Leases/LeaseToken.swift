/// What Redis tells a lease of a shard's entry by, beside the consumer's name. A message that a worker took over from itself is another
/// lease: it was delivered once more.
struct LeaseToken: Sendable, Hashable {
  let entryID: String
  let deliveryCount: Int64
}

extension LeasedMessage {
  var token: LeaseToken { LeaseToken(entryID: entryID, deliveryCount: deliveryCount) }
}
