/// One parsed reply as a flat list of items, in which an array precedes its elements. The bytes of all strings are in one array. So a reply
/// needs few allocations, however many elements it has.
final class ReplyTape: Sendable {
  enum Kind: UInt8, Sendable { case null, integer, text, error, array }

  struct Item: Sendable {
    var kind: Kind
    /// The number of bytes of a string, or of elements of an array.
    var count: Int32 = 0
    /// The index after the item and all its elements.
    var end: Int32 = 0
    /// The integer, or the offset of the string's first byte.
    var value: Int64 = 0
  }

  let items: [Item]
  let bytes: [UInt8]

  /// - Parameter items: moved into the tape, so that the argument is empty afterwards.
  init(items given: inout [Item], bytes: [UInt8]) {
    var items: [Item] = []
    swap(&items, &given)
    // The loop goes backwards, so that the ends of an array's elements are known when the array is reached.
    for position in items.indices.reversed() {
      var end = Int32(position + 1)
      if items[position].kind == .array {
        for _ in 0..<items[position].count { end = items[Int(end)].end }
      }
      items[position].end = end
    }
    self.items = items
    self.bytes = bytes
  }

  /// A copy of a part of another tape: the item at an index and all its elements, whose bytes are contiguous.
  init(_ whole: ReplyTape, from position: Int) {
    let range = position..<Int(whole.items[position].end)
    var items = Array(whole.items[range])
    var (start, end) = (0, 0)
    var hasBytes = false
    for index in items.indices {
      items[index].end -= Int32(position)
      guard items[index].kind == .text || items[index].kind == .error else { continue }
      if !hasBytes { start = Int(items[index].value) }
      hasBytes = true
      end = Int(items[index].value) + Int(items[index].count)
      items[index].value -= Int64(start)
    }
    self.items = items
    bytes = Array(whole.bytes[start..<end])
  }

  // These functions return an item as one type; nil if it has another type.

  func string(_ item: Item) -> String? { item.kind == .text ? text(item) : nil }

  /// The item as text. Returns `known` if the text equals it, so that no string is allocated.
  func string(_ item: Item, like known: String) -> String? {
    guard item.kind == .text else { return nil }
    guard known.utf8.count == Int(item.count) else { return text(item) }
    let isKnown = known.utf8.withContiguousStorageIfAvailable { known in
      bytes.withUnsafeBufferPointer { bytes in known.indices.allSatisfy { known[$0] == bytes[Int(item.value) + $0] } }
    }
    return isKnown == true ? known : text(item)
  }

  func bytes(_ item: Item) -> [UInt8]? { item.kind == .text ? Array(bytes[range(item)]) : nil }

  /// The byte of a string that consists of one byte.
  func singleByte(_ item: Item) -> UInt8? { item.kind == .text && item.count == 1 ? bytes[Int(item.value)] : nil }

  func integer(_ item: Item) -> Int64? {
    switch item.kind {
    case .integer: item.value
    case .text: Self.decimal(bytes[range(item)])
    default: nil
    }
  }

  /// The text of a string or an error.
  func text(_ item: Item) -> String { String(decoding: bytes[range(item)], as: UTF8.self) }

  private func range(_ item: Item) -> Range<Int> { Int(item.value)..<Int(item.value) + Int(item.count) }

  /// The integer that the digits are; nil if they are not one, or if it does not fit.
  private static func decimal(_ digits: ArraySlice<UInt8>) -> Int64? {
    let isNegative = digits.first == UInt8(ascii: "-")
    let digits = isNegative ? digits.dropFirst() : digits
    guard !digits.isEmpty else { return nil }
    var value: Int64 = 0
    for digit in digits {
      guard (48...57).contains(digit) else { return nil }
      let (tens, isTooLarge) = value.multipliedReportingOverflow(by: 10)
      // The digits are subtracted, because the least integer has no positive counterpart.
      let (sum, isTooSmall) = tens.subtractingReportingOverflow(Int64(digit - 48))
      guard !isTooLarge, !isTooSmall else { return nil }
      value = sum
    }
    guard !isNegative else { return value }
    return value == .min ? nil : -value
  }
}
