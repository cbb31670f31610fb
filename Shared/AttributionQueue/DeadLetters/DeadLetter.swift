/// A message that failed permanently.
public struct DeadLetter: Sendable, Hashable {
  public let id: DeliveryID
  public let queue: QueueName
  public let kind: String
  public let attempts: Int
  /// Milliseconds since 1970; nil if the message cannot be read.
  public let receivedAt: Int64?
  public let diedAt: Int64
  public let lastError: String
  public let history: [String]
  /// The position of the entry. It gives shard and age also for an entry that names a delivery of another shard.
  public let place: DeadLetterPosition
  let line: String?

  var entryID: String { place.entryID }
}

/// A position among the dead letters of a queue, for paging.
public struct DeadLetterPosition: Sendable, Hashable {
  let shard: Shard
  let entryID: String

  init(shard: Shard, entryID: String) {
    self.shard = shard
    self.entryID = entryID
  }

  /// Returns nil for text that is not in the form of ``text``.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, let shard = Int(parts[0]), (0..<Shard.count).contains(shard), let milliseconds = UInt64(parts[1]),
      let number = UInt64(parts[2])
    else { return nil }
    self.init(shard: Shard(shard), entryID: "\(milliseconds)-\(number)")
  }

  public var text: String { "\(shard.index)-\(entryID)" }
}
