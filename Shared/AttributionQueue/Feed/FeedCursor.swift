/// A place in the events of all shards together. They are ordered by the millisecond of their publication, then by shard, then by their
/// number: a list can go on behind any of them without anything that was kept between two pages.
public struct FeedCursor: Sendable, Hashable, Comparable {
  /// When the event of this place was published, milliseconds since 1970.
  public let milliseconds: Int64
  let shard: Int
  let number: UInt64

  init(_ shard: Shard, _ entry: EntryID) {
    milliseconds = Int64(clamping: entry.milliseconds)
    self.shard = shard.index
    number = entry.number
  }

  /// Later than any event will be; what a caller sends must not overflow.
  private static let latest: Int64 = 1 << 52

  /// Nil for anything that ``text`` does not give.
  public init?(_ text: String) {
    let parts = text.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, let milliseconds = Int64(parts[0]), (0...Self.latest).contains(milliseconds), let shard = Int(parts[1]),
      (0..<Shard.count).contains(shard), let number = UInt64(parts[2])
    else { return nil }
    self.milliseconds = milliseconds
    self.shard = shard
    self.number = number
  }

  public var text: String { "\(milliseconds)-\(shard)-\(number)" }

  /// Where a shard is read on, as `XRANGE` takes it.
  func start(in other: Shard) -> String {
    if other.index == shard { return "(\(milliseconds)-\(number)" }
    return other.index < shard ? "\(milliseconds + 1)" : "\(milliseconds)"
  }

  public static func < (one: FeedCursor, other: FeedCursor) -> Bool {
    (one.milliseconds, one.shard, one.number) < (other.milliseconds, other.shard, other.number)
  }
}
