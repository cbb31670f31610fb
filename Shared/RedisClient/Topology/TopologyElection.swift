/// Decides which topology to use when nodes disagree: the one on which more than half of the queried nodes agree, so that one lagging or
/// partitioned node cannot misdirect commands.
struct TopologyElection {
  private let voters: Int
  private var votes: [SlotMap: Int] = [:]
  private var answered = 0

  /// - Parameter voters: the number of nodes that are asked.
  init(voters: Int) { self.voters = voters }

  /// Counts a vote; nil for a node that did not answer.
  mutating func vote(_ map: SlotMap?) {
    answered += 1
    if let map { votes[map, default: 0] += 1 }
  }

  /// The topology on which more than half of all nodes agree.
  var elected: SlotMap? { votes.first { $0.value * 2 > voters }?.key }

  /// The topology to use when all nodes have answered or failed. Without a majority it is `believed`, the topology in use; if there is
  /// none, the one with the most votes.
  func result(believed: SlotMap?) -> SlotMap? {
    if let elected { return elected }
    guard answered >= voters, believed == nil else { return believed }
    return votes.max { a, b in
      (a.value, b.key.primaries.count, "\(a.key.primaries)") < (b.value, a.key.primaries.count, "\(b.key.primaries)")
    }?.key
  }
}
