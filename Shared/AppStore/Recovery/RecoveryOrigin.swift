/// Why a recovery was started: a caller requested it, the schedule is due, or there was an outage.
public enum RecoveryOrigin: String, Sendable, Hashable, CaseIterable {
  case request, schedule, outage

  /// True if a recovery may hold less urgent notifications back (``RecoveryUrgency``). It does so after every outage, and for a caller if
  /// the window is large (`RecoveryJob.isUrgentFirst`).
  public var mayHoldBack: Bool { self != .schedule }

  /// The rank in the order in which recoveries get free slots: outages, then callers, then the schedule.
  var priority: Int {
    switch self {
    case .outage: 0
    case .request: 1
    case .schedule: 2
    }
  }
}
