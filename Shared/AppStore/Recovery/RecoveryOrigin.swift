/// Who wanted a recovery.
public enum RecoveryOrigin: String, Sendable, Hashable, CaseIterable {
  case request, schedule, outage

  /// Whether the urgent notifications are to be worked first. A caller who asks for a window gets it as it comes.
  public var isUrgentFirst: Bool { self == .outage }

  /// Which is begun first, the smallest first: what an outage wants before what a caller wants, and that before what the schedule wants.
  var priority: Int {
    switch self {
    case .outage: 0
    case .request: 1
    case .schedule: 2
    }
  }
}
