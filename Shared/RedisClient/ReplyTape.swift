/// One reply: its items in the order in which they came, an array before its elements, and the bytes of its strings one behind the other.
final class ReplyTape: Sendable {
  enum Kind: UInt8, Sendable { case null, integer, text, error, array }

  struct Item: Sendable {
    var kind: Kind
    /// Bytes of a string, elements of an array.
    var count: Int32 = 0
    /// The place behind the item and all that is in it.
    var end: Int32 = 0
    /// The integer, or where the string's bytes begin.
    var value: Int64 = 0
  }

  let items: [Item]
  let bytes: [UInt8]

  /// - Parameter items: theirs is the room, which is taken over: none are left.
  init(items given: inout [Item], bytes: [UInt8]) {
    var items: [Item] = []
    swap(&items, &given)
    // From behind: where its elements end is known when their array is reached.
    for place in items.indices.reversed() {
      var end = Int32(place + 1)
      if items[place].kind == .array {
        for _ in 0..<items[place].count { end = items[Int(end)].end }
      }
      items[place].end = end
    }
    self.items = items
    self.bytes = bytes
  }
}
