/// Decides which topology to use when nodes disagree: the one on which more than half of the queried nodes agree. So one node that lags
/// behind or is cut off cannot misdirect commands.
struct TopologyElection {
  private let voters: Int
  private var votes: [SlotMap: Int] = [:]
  private var answered = 0

  /// - Parameter voters: the number of nodes that are queried.
  init(voters: Int) { self.voters = voters }

  /// Counts the vote of a node; nil if the node did not reply, or not usably.
  mutating func vote(_ map: SlotMap?) {
    answered += 1
    if let map { votes[map, default: 0] += 1 }
  }

  /// The topology on which more than half of all nodes agree.
  var elected: SlotMap? { votes.first { $0.value * 2 > voters }?.key }

  /// The topology to use after the votes of all nodes. Without a majority it is `current`, the topology in use; if `current` is nil, the
  /// one with the most votes.
  func result(current: SlotMap?) -> SlotMap? {
    if let elected { return elected }
    guard answered >= voters, current == nil else { return current }
    // Among topologies with equal votes, the one with the fewest primaries is used, and then the one with the greatest text. So the result
    // does not depend on the order of the votes.
    return votes.max { a, b in
      (a.value, b.key.primaries.count, "\(a.key.primaries)") < (b.value, a.key.primaries.count, "\(b.key.primaries)")
    }?.key
  }
}
