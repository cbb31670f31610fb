/// Decides which topology to use when nodes disagree: the one on which more than half of the queried nodes agree, so that one lagging or partitioned
/// node cannot misdirect commands.
struct TopologyElection {
  private let voters: Int
  private var votes: [SlotMap: Int] = [:]
  private var answered = 0

  /// - Parameter voters: how many are asked.
  init(voters: Int) { self.voters = voters }

  /// Counts a vote; nil for a voter that gave no answer.
  mutating func vote(_ map: SlotMap?) {
    answered += 1
    if let map { votes[map, default: 0] += 1 }
  }

  /// What more than half of all agree on.
  var elected: SlotMap? { votes.first { $0.value * 2 > voters }?.key }

  /// When all have answered or failed to: what is believed. Without a majority it is what most of them say where nothing else is known yet, and
  /// what was `believed` before otherwise.
  func result(believed: SlotMap?) -> SlotMap? {
    if let elected { return elected }
    guard answered >= voters, believed == nil else { return believed }
    return votes.max { a, b in
      (a.value, b.key.primaries.count, "\(a.key.primaries)") < (b.value, a.key.primaries.count, "\(b.key.primaries)")
    }?.key
  }
}
