/// A cache that removes the least recently used entry when it is full. With a capacity of 0 it is always empty.
struct LeastRecentlyUsedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Entry {
    var value: Value
    /// The number of the entry's last use.
    var lastUse: UInt64
  }

  private struct Use {
    let key: Key
    let number: UInt64
  }

  let capacity: Int
  private var entries: [Key: Entry] = [:]
  /// The uses in their order. A use counts only if it is the last one of its entry.
  private var uses: [Use] = []
  /// The number of leading elements of `uses` that ``forgetOldest()`` is done with.
  private var passed = 0
  private var useCount: UInt64 = 0

  init(capacity: Int) { self.capacity = max(0, capacity) }

  var count: Int { entries.count }
  var keys: [Key] { Array(entries.keys) }

  /// The value of a key; nil if there is none. Counts as a use.
  mutating func use(_ key: Key) -> Value? {
    guard let value = entries[key]?.value else { return nil }
    entries[key]!.lastUse = addUse(of: key)
    return value
  }

  /// Like ``use(_:)``, but does not count as a use.
  func peek(_ key: Key) -> Value? { entries[key]?.value }

  /// Stores a value, instead of an earlier one of that key. Counts as a use.
  mutating func keep(_ value: Value, for key: Key) {
    guard capacity > 0 else { return }
    if entries[key] == nil, entries.count >= capacity { forgetOldest() }
    entries[key] = Entry(value: value, lastUse: addUse(of: key))
  }

  mutating func forget(_ key: Key) { entries[key] = nil }

  /// Appends a use, and returns its number for the entry's `lastUse`.
  private mutating func addUse(of key: Key) -> UInt64 {
    useCount += 1
    uses.append(Use(key: key, number: useCount))
    // Compacted only when there are several times as many uses as entries, so that the cost of compacting is small for each use. The use
    // just appended is kept too, although its entry does not have its number yet.
    if uses.count > 4 * capacity + 64 {
      uses = uses[passed...].filter { entries[$0.key]?.lastUse == $0.number || $0.number == useCount }
      passed = 0
    }
    return useCount
  }

  private mutating func forgetOldest() {
    while passed < uses.count {
      let use = uses[passed]
      passed += 1
      if entries[use.key]?.lastUse == use.number {
        entries[use.key] = nil
        return
      }
    }
  }
}
