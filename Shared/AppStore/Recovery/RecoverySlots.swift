/// Limits the concurrent recoveries of an app. Each pair of a server and an origin has slots of its own, so that recoveries at a failing
/// server do not delay those at the other one, and scheduled recoveries do not delay those for outages or callers.
public enum RecoverySlots {
  /// The recoveries of one server and one origin, which share slots.
  public struct SlotGroup: Sendable, Hashable {
    public let server: AppStoreServer
    public let origin: RecoveryOrigin

    public init(server: AppStoreServer, origin: RecoveryOrigin) {
      self.server = server
      self.origin = origin
    }
  }

  /// A recovery that waits for a slot.
  public struct Candidate: Sendable, Hashable {
    public let id: String
    public let slotGroup: SlotGroup
    /// Milliseconds since 1970.
    public let startedAt: Int64

    public init(id: String, slotGroup: SlotGroup, startedAt: Int64) {
      self.id = id
      self.slotGroup = slotGroup
      self.startedAt = startedAt
    }
  }

  /// The number of slots of a group with this origin.
  public static func limit(_ origin: RecoveryOrigin) -> Int { origin == .request ? 4 : 2 }

  /// The ids of the waiting recoveries that get a free slot, in the order in which they begin.
  ///
  /// - Parameter active: the group of each running recovery.
  public static func beginning(_ waiting: [Candidate], active: [SlotGroup]) -> [String] {
    var taken: [SlotGroup: Int] = [:]
    for slotGroup in active { taken[slotGroup, default: 0] += 1 }
    let inTurn = waiting.sorted {
      ($0.slotGroup.origin.priority, $0.startedAt, $0.id) < ($1.slotGroup.origin.priority, $1.startedAt, $1.id)
    }
    return inTurn.compactMap { candidate in
      guard taken[candidate.slotGroup, default: 0] < limit(candidate.slotGroup.origin) else { return nil }
      taken[candidate.slotGroup, default: 0] += 1
      return candidate.id
    }
  }
}
