/// The assignment of slots to nodes. It is compared and replaced as a whole.
struct SlotMap: Sendable, Hashable {
  struct Range: Sendable, Hashable {
    var slots: ClosedRange<Int>
    var primary: NodeAddress
    var replicas: [NodeAddress]
  }

  /// The ranges in the order of their slots. A slot that no node serves is in none of them.
  let ranges: [Range]
  /// The nodes that serve slots, without duplicates.
  let primaries: [NodeAddress]
  /// For each slot, the index of its node in ``primaries``, or ``unserved``.
  private let owners: [UInt16]
  private static let unserved = UInt16.max

  init(_ ranges: [Range]) {
    let sorted = ranges.map { range in
      Range(slots: range.slots, primary: range.primary, replicas: range.replicas.sorted { "\($0)" < "\($1)" })
    }
    self.ranges = sorted.sorted { $0.slots.lowerBound < $1.slots.lowerBound }
    var numbers: [NodeAddress: UInt16] = [:]
    var primaries: [NodeAddress] = []
    var owners = [UInt16](repeating: Self.unserved, count: HashSlot.count)
    for range in self.ranges {
      let number = numbers[range.primary] ?? UInt16(primaries.count)
      if numbers.updateValue(number, forKey: range.primary) == nil { primaries.append(range.primary) }
      for slot in range.slots.clamped(to: 0...(HashSlot.count - 1)) { owners[slot] = number }
    }
    self.primaries = primaries
    self.owners = owners
  }

  /// A map with one node that serves all slots: the primary that Sentinels name.
  init(primary: NodeAddress) {
    self.init([Range(slots: 0...(HashSlot.count - 1), primary: primary, replicas: [])])
  }

  static func == (a: Self, b: Self) -> Bool { a.ranges == b.ranges }
  func hash(into hasher: inout Hasher) { hasher.combine(ranges) }

  /// All nodes, primaries first, without duplicates.
  var nodes: [NodeAddress] {
    var known = Set(primaries)
    return primaries + ranges.flatMap(\.replicas).filter { known.insert($0).inserted }
  }

  /// The node that serves a slot; nil if there is none.
  subscript(_ slot: HashSlot) -> NodeAddress? {
    let number = owners[slot.number]
    return number == Self.unserved ? nil : primaries[Int(number)]
  }
}
