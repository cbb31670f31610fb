/// The origin of a recovery.
public enum RecoveryOrigin: String, Sendable, Hashable, CaseIterable {
  case request, schedule, outage

  /// True if notifications may be held back so that urgent ones are worked first: always after an outage, and in a large window that a
  /// caller has named.
  public var mayHoldBack: Bool { self != .schedule }

  /// The priority, the smallest first: outages, then callers, then the schedule.
  var priority: Int {
    switch self {
    case .outage: 0
    case .request: 1
    case .schedule: 2
    }
  }
}
