/// A bounded table that forgets what was not used for the longest time. Pure; a capacity of 0 keeps nothing.
struct RecentlyUsed<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Entry {
    var value: Value
    var used: UInt64
  }

  let capacity: Int
  private var entries: [Key: Entry] = [:]
  private var clock: UInt64 = 0

  init(capacity: Int) { self.capacity = max(0, capacity) }

  var count: Int { entries.count }
  var keys: [Key] { Array(entries.keys) }

  /// The value, which counts as used.
  mutating func use(_ key: Key) -> Value? {
    guard let value = entries[key]?.value else { return nil }
    clock += 1
    entries[key]!.used = clock
    return value
  }

  /// The value, without counting as a use.
  func peek(_ key: Key) -> Value? { entries[key]?.value }

  mutating func keep(_ value: Value, for key: Key) {
    guard capacity > 0 else { return }
    clock += 1
    // A walk over all is cheap beside what is kept here: a verified path or an answer from the network.
    if entries[key] == nil, entries.count >= capacity, let oldest = entries.min(by: { $0.value.used < $1.value.used }) {
      entries[oldest.key] = nil
    }
    entries[key] = Entry(value: value, used: clock)
  }

  mutating func forget(_ key: Key) { entries[key] = nil }
}
