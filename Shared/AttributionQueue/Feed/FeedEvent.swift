/// An event and its acknowledgement id.
public struct FeedEvent: Sendable {
  public let ackId: String
  /// A CloudEvent in its JSON format.
  public let json: [UInt8]
}

/// The id that acknowledges an event: its shard, its entry, and the generation that the subscription had when the event was handed out. The
/// first generation, 0, is left out of the text.
struct AckID: Sendable, Hashable {
  let shard: Shard
  let entry: EntryID
  let generation: Int

  init(_ shard: Shard, _ entry: EntryID, generation: Int) {
    self.shard = shard
    self.entry = entry
    self.generation = generation
  }

  init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2 || parts.count == 3, let index = Int(parts[0]), (0..<Shard.count).contains(index),
      let entry = EntryID(String(parts[1])), entry.text.utf8.count == parts[1].utf8.count
    else { return nil }
    guard let generation = parts.count == 3 ? Int(parts[2]) : 0 else { return nil }
    self.init(Shard(index), entry, generation: generation)
  }

  var text: String { "\(shard.index).\(entry.text)" + (generation > 0 ? ".\(generation)" : "") }
}
