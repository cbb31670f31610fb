/// One column of a commit batch: one value per message, false where a message has none, up to the last message that has one. An empty
/// column is not sent.
struct CommitColumn {
  let name: StaticString
  private var values = MessagePackWriter(reserving: 0)
  private var count = 0

  init(_ name: StaticString) { self.name = name }

  /// Sets the value of a message. Messages must come in order.
  mutating func put(_ text: String, at place: Int) {
    pad(to: place)
    values.string(text)
  }

  /// Sets a value that is the concatenation of two texts.
  mutating func put(_ first: String, _ second: Substring, at place: Int) {
    pad(to: place)
    values.string(first, second)
  }

  mutating func put(_ text: [UInt8], at place: Int) {
    pad(to: place)
    values.string(text)
  }

  mutating func put(_ number: Int, at place: Int) {
    pad(to: place)
    values.int(number)
  }

  mutating func putTrue(at place: Int) {
    pad(to: place)
    values.bool(true)
  }

  /// Sets a map that was encoded before.
  mutating func put(_ map: MessagePackWriter, at place: Int) {
    pad(to: place)
    values.append(map)
  }

  func write(to pack: inout MessagePackWriter) {
    guard count > 0 else { return }
    pack.key(name)
    pack.list(of: count, values)
  }

  private mutating func pad(to place: Int) {
    precondition(place >= count, "a message has one value of each")
    while count < place {
      values.bool(false)
      count += 1
    }
    count += 1
  }
}
