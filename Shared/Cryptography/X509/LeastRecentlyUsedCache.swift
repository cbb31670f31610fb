/// A cache with a capacity that removes the least recently used entry. Pure; with a capacity of 0 it is always empty.
struct LeastRecentlyUsedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Entry {
    var value: Value
    var used: UInt64
  }

  private struct Use {
    let key: Key
    let time: UInt64
  }

  let capacity: Int
  private var entries: [Key: Entry] = [:]
  /// All uses, oldest first. A use that is not the last one of its entry is skipped.
  private var uses: [Use] = []
  private var passed = 0
  private var clock: UInt64 = 0

  init(capacity: Int) { self.capacity = max(0, capacity) }

  var count: Int { entries.count }
  var keys: [Key] { Array(entries.keys) }

  /// The value. This counts as a use.
  mutating func use(_ key: Key) -> Value? {
    guard let value = entries[key]?.value else { return nil }
    entries[key]!.used = tick(key)
    return value
  }

  /// The value, without counting as a use.
  func peek(_ key: Key) -> Value? { entries[key]?.value }

  mutating func keep(_ value: Value, for key: Key) {
    guard capacity > 0 else { return }
    if entries[key] == nil, entries.count >= capacity { forgetOldest() }
    entries[key] = Entry(value: value, used: tick(key))
  }

  mutating func forget(_ key: Key) { entries[key] = nil }

  private mutating func tick(_ key: Key) -> UInt64 {
    clock += 1
    uses.append(Use(key: key, time: clock))
    // Compacted only when there are several times as many uses as entries, so each use is moved a few times at most.
    if uses.count > 4 * capacity + 64 {
      uses = uses[passed...].filter { entries[$0.key]?.used == $0.time || $0.time == clock }
      passed = 0
    }
    return clock
  }

  private mutating func forgetOldest() {
    while passed < uses.count {
      let use = uses[passed]
      passed += 1
      if entries[use.key]?.used == use.time {
        entries[use.key] = nil
        return
      }
    }
  }
}
