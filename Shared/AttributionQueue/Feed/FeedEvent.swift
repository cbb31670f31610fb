/// A leased event and the id that acknowledges it.
public struct FeedEvent: Sendable {
  public let ackId: String
  /// A CloudEvent in its JSON format.
  public let json: [UInt8]
}

/// The id that acknowledges an event: its shard, its entry, the generation that the subscription had when the event was leased, and the
/// delivery count that pull.lua returned, which identifies the lease.
struct AckID: Sendable, Hashable {
  let shard: Shard
  let entry: EntryID
  let generation: Int
  /// The delivery count of the lease. Nil in ids that were created in ``StoreForm/leased``, because older builds cannot read it.
  let lease: Int?

  init(_ shard: Shard, _ entry: EntryID, generation: Int, lease: Int?) {
    self.shard = shard
    self.entry = entry
    self.generation = generation
    self.lease = lease
  }

  /// Returns nil for text that is not in the format of ``text``.
  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (2...4).contains(parts.count), let index = Int(parts[0]), (0..<Shard.count).contains(index),
      let entry = EntryID(String(parts[1])), entry.text.utf8.count == parts[1].utf8.count
    else { return nil }
    guard let generation = parts.count > 2 ? Int(parts[2]) : 0 else { return nil }
    let lease = parts.count > 3 ? Int(parts[3]) : nil
    guard parts.count < 4 || lease != nil else { return nil }
    self.init(Shard(index), entry, generation: generation, lease: lease)
  }

  /// Such as `17.1700000000000-0.2.1`: shard, entry, generation and lease. Without a lease, generation 0 is left out too.
  var text: String {
    let location = "\(shard.index).\(entry.text)"
    if let lease { return "\(location).\(generation).\(lease)" }
    return generation > 0 ? "\(location).\(generation)" : location
  }
}
