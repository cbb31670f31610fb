/// A priority queue: values by key, the smallest key first.
struct MinimumHeap<Key: Comparable & Sendable, Value: Sendable>: Sendable {
  private var items: [(key: Key, value: Value)] = []

  var first: (key: Key, value: Value)? { items.first }
  var count: Int { items.count }

  mutating func removeAll() { items.removeAll() }

  mutating func insert(_ key: Key, _ value: Value) {
    items.append((key, value))
    var index = items.count - 1
    while index > 0, items[index].key < items[(index - 1) / 2].key {
      items.swapAt(index, (index - 1) / 2)
      index = (index - 1) / 2
    }
  }

  mutating func popFirst() -> (key: Key, value: Value)? {
    guard let first = items.first, let last = items.popLast() else { return nil }
    guard !items.isEmpty else { return first }
    items[0] = last
    var index = 0
    while true {
      var least = index
      for child in [2 * index + 1, 2 * index + 2] where child < items.count && items[child].key < items[least].key { least = child }
      if least == index { return first }
      items.swapAt(index, least)
      index = least
    }
  }
}
