/// The id of a stream entry: milliseconds and a sequence number, compared in that order.
struct EntryID: Sendable, Hashable, Comparable {
  let milliseconds: UInt64
  let number: UInt64

  init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"))
    guard parts.count == 2, let milliseconds = UInt64(Substring(parts[0])), let number = UInt64(Substring(parts[1])) else { return nil }
    self.init(milliseconds: milliseconds, number: number)
  }

  init(milliseconds: UInt64, number: UInt64) {
    self.milliseconds = milliseconds
    self.number = number
  }

  /// Greater than every id that an entry can have: the position of the consumer group of an owned shard (own.lua).
  static let behindAll = EntryID(milliseconds: .max, number: .max)

  /// The smallest id that may follow; the id itself if it is the greatest of all.
  var next: EntryID {
    if self == .behindAll { return self }
    return number == .max ? EntryID(milliseconds: milliseconds + 1, number: 0) : EntryID(milliseconds: milliseconds, number: number + 1)
  }

  var text: String { "\(milliseconds)-\(number)" }

  static func < (one: EntryID, other: EntryID) -> Bool {
    (one.milliseconds, one.number) < (other.milliseconds, other.number)
  }
}
