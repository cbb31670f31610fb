/// A position in the events of all shards together. Events are ordered by the millisecond of publication, then by shard, then by sequence
/// number, so that a list can continue after any of them without stored state.
public struct FeedCursor: Sendable, Hashable, Comparable {
  /// When the event at this position was published, milliseconds since 1970.
  public let milliseconds: Int64
  let shard: Int
  let number: UInt64

  init(_ shard: Shard, _ entry: EntryID) {
    milliseconds = Int64(clamping: entry.milliseconds)
    self.shard = shard.index
    number = entry.number
  }

  /// The maximum of ``milliseconds``: later than any event, and small enough that computing with a caller's value cannot overflow.
  private static let maxMilliseconds: Int64 = 1 << 52

  /// Returns nil for text that is not in the format of ``text``.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, let milliseconds = Int64(parts[0]), (0...Self.maxMilliseconds).contains(milliseconds),
      let shard = Int(parts[1]), (0..<Shard.count).contains(shard), let number = UInt64(parts[2])
    else { return nil }
    self.milliseconds = milliseconds
    self.shard = shard
    self.number = number
  }

  /// The milliseconds, the shard and the sequence number, such as `1700000000000-17-0`.
  public var text: String { "\(milliseconds)-\(shard)-\(number)" }

  /// The start argument of `XRANGE` that reads the events of a shard after this position.
  func start(in other: Shard) -> String {
    if other.index == shard { return "(\(milliseconds)-\(number)" }
    return other.index < shard ? "\(milliseconds + 1)" : "\(milliseconds)"
  }

  public static func < (one: FeedCursor, other: FeedCursor) -> Bool {
    (one.milliseconds, one.shard, one.number) < (other.milliseconds, other.shard, other.number)
  }
}
