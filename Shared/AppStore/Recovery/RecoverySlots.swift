/// Which of an app's recoveries are worked at a time. Each of Apple's servers and each origin has slots of its own: recoveries that wait
/// for a server that fails hold up none of the other server, and those of a schedule none that an outage or a caller wants.
public enum RecoverySlots {
  /// What has slots of its own.
  public struct SlotGroup: Sendable, Hashable {
    public let server: AppStoreServer
    public let origin: RecoveryOrigin

    public init(server: AppStoreServer, origin: RecoveryOrigin) {
      self.server = server
      self.origin = origin
    }
  }

  /// A recovery that could begin.
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

  /// How many of an origin are worked at a time at one server.
  public static func most(_ origin: RecoveryOrigin) -> Int { origin == .request ? 4 : 2 }

  /// The ids of those that find a free slot, in the order in which they are to begin. `active` are the places of those that are worked.
  public static func beginning(_ waiting: [Candidate], active: [SlotGroup]) -> [String] {
    var taken: [SlotGroup: Int] = [:]
    for slotGroup in active { taken[slotGroup, default: 0] += 1 }
    let inTurn = waiting.sorted {
      ($0.slotGroup.origin.priority, $0.startedAt, $0.id) < ($1.slotGroup.origin.priority, $1.startedAt, $1.id)
    }
    return inTurn.compactMap { candidate in
      guard taken[candidate.slotGroup, default: 0] < most(candidate.slotGroup.origin) else { return nil }
      taken[candidate.slotGroup, default: 0] += 1
      return candidate.id
    }
  }
}
