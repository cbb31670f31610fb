/// An event and its acknowledgement id.
public struct FeedEvent: Sendable {
  public let ackId: String
  /// A CloudEvent in its JSON format.
  public let json: [UInt8]
}

/// The id that acknowledges an event: its shard, its entry, the generation that the subscription had when the event was leased, and how
/// often the event was leased until then. Without the last number the first generation, 0, is left out of the text.
struct AckID: Sendable, Hashable {
  let shard: Shard
  let entry: EntryID
  let generation: Int
  /// Tells the leases of an event apart. Nil in ids that were made in ``StoreForm/leased``, for builds that do not read the number.
  let lease: Int?

  init(_ shard: Shard, _ entry: EntryID, generation: Int, lease: Int?) {
    self.shard = shard
    self.entry = entry
    self.generation = generation
    self.lease = lease
  }

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

  var text: String {
    let place = "\(shard.index).\(entry.text)"
    if let lease { return "\(place).\(generation).\(lease)" }
    return generation > 0 ? "\(place).\(generation)" : place
  }
}
