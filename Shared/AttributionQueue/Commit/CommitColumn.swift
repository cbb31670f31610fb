/// One column of a commit batch: a list with a value for each message, false for a message that has none, up to the last message that has
/// one. An empty column is not sent.
struct CommitColumn {
  let name: StaticString
  private var values = MessagePackWriter(reserving: 0)
  private var count = 0

  init(_ name: StaticString) { self.name = name }

  /// Sets the value of a message. Messages must come in order.
  mutating func put(_ text: String, at index: Int) {
    pad(to: index)
    values.string(text)
  }

  /// Sets a value that is the concatenation of two texts.
  mutating func put(_ first: String, _ second: Substring, at index: Int) {
    pad(to: index)
    values.string(first, second)
  }

  mutating func put(_ text: [UInt8], at index: Int) {
    pad(to: index)
    values.string(text)
  }

  mutating func put(_ number: Int, at index: Int) {
    pad(to: index)
    values.int(number)
  }

  mutating func putTrue(at index: Int) {
    pad(to: index)
    values.bool(true)
  }

  /// Sets a map that was encoded before.
  mutating func put(_ map: MessagePackWriter, at index: Int) {
    pad(to: index)
    values.append(map)
  }

  func write(to pack: inout MessagePackWriter) {
    guard count > 0 else { return }
    pack.key(name)
    pack.list(of: count, values)
  }

  private mutating func pad(to index: Int) {
    precondition(index >= count, "a column has one value for each message")
    while count < index {
      values.bool(false)
      count += 1
    }
    count += 1
  }
}
