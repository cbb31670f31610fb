/// A priority queue: values by key, the smallest key first. It is a binary heap in an array: the children of the item at index i are at 2i
/// + 1 and 2i + 2.
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
      var smallest = index
      for child in [2 * index + 1, 2 * index + 2] where child < items.count && items[child].key < items[smallest].key { smallest = child }
      if smallest == index { return first }
      items.swapAt(index, smallest)
      index = smallest
    }
  }
}
