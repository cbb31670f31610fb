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

  /// The greatest possible id. As the position of a consumer group, it shows that the shard is owned (own.lua), because no entry follows
  /// it.
  static let greatest = EntryID(milliseconds: .max, number: .max)

  /// The smallest id above this one; the id itself if it is the greatest.
  var next: EntryID {
    if self == .greatest { return self }
    return number == .max ? EntryID(milliseconds: milliseconds + 1, number: 0) : EntryID(milliseconds: milliseconds, number: number + 1)
  }

  var text: String { "\(milliseconds)-\(number)" }

  static func < (one: EntryID, other: EntryID) -> Bool {
    (one.milliseconds, one.number) < (other.milliseconds, other.number)
  }
}
