/// Values by a key, the smallest first.
struct MinimumHeap<Key: Comparable & Sendable, Value: Sendable>: Sendable {
  private var items: [(key: Key, value: Value)] = []

  var first: (key: Key, value: Value)? { items.first }
  var count: Int { items.count }

  mutating func removeAll() { items.removeAll() }

  mutating func insert(_ key: Key, _ value: Value) {
    items.append((key, value))
    var place = items.count - 1
    while place > 0, items[place].key < items[(place - 1) / 2].key {
      items.swapAt(place, (place - 1) / 2)
      place = (place - 1) / 2
    }
  }

  mutating func popFirst() -> (key: Key, value: Value)? {
    guard let first = items.first, let last = items.popLast() else { return nil }
    guard !items.isEmpty else { return first }
    items[0] = last
    var place = 0
    while true {
      var least = place
      for child in [2 * place + 1, 2 * place + 2] where child < items.count && items[child].key < items[least].key { least = child }
      if least == place { return first }
      items.swapAt(place, least)
      place = least
    }
  }
}
