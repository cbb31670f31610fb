/// The origin of a recovery.
public enum RecoveryOrigin: String, Sendable, Hashable, CaseIterable {
  case request, schedule, outage

  /// True if urgent notifications are worked first. For a caller they are worked in the order of arrival.
  public var isUrgentFirst: Bool { self == .outage }

  /// The priority, the smallest first: outages, then callers, then the schedule.
  var priority: Int {
    switch self {
    case .outage: 0
    case .request: 1
    case .schedule: 2
    }
  }
}
