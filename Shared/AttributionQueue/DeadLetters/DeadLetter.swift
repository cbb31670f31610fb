/// A message that failed permanently, without its body: ``QueueAdministration/deadLetter(_:queue:)`` returns the body too.
public struct DeadLetter: Sendable, Hashable {
  public let id: DeliveryID
  public let queue: QueueName
  public let kind: String
  public let attempts: Int
  /// Milliseconds since 1970; nil if the message cannot be read.
  public let receivedAt: Int64?
  /// When the message became a dead letter, milliseconds since 1970.
  public let diedAt: Int64
  public let lastError: String
  /// The failed attempts, oldest first: each a time in milliseconds since 1970, a space and an error.
  public let history: [String]
  /// The position of the entry. It has the right shard even if the entry names a delivery of another shard.
  public let position: DeadLetterPosition
  /// Identifies the order line; nil for a message that keeps no order.
  let line: String?

  var entryID: String { position.entryID }
}

/// A position among the dead letters of a queue, for paging.
public struct DeadLetterPosition: Sendable, Hashable {
  let shard: Shard
  let entryID: String

  init(shard: Shard, entryID: String) {
    self.shard = shard
    self.entryID = entryID
  }

  /// Returns nil for text that is not in the format of ``text``.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, let shard = Int(parts[0]), (0..<Shard.count).contains(shard), let milliseconds = UInt64(parts[1]),
      let number = UInt64(parts[2])
    else { return nil }
    self.init(shard: Shard(shard), entryID: "\(milliseconds)-\(number)")
  }

  /// The shard and the entry id, such as `17-1700000000000-0`.
  public var text: String { "\(shard.index)-\(entryID)" }
}
