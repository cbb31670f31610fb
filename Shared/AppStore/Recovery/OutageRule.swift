/// Decides what to do about an outage: to wait for Apple's own retries, or to recover the outage's window. Pure: times are passed in. It is
/// used by `OutageDetector` in notification-recovery.
public struct OutageRule: Sendable, Hashable {
  /// What shows an outage.
  public enum Evidence: String, Sendable, Hashable {
    /// No instance of ingest sent a heartbeat.
    case heartbeat
    /// An app's notifications stopped for an unusual time (``ArrivalRhythm``).
    case silence
  }

  /// What to do about an outage that has ended.
  public enum Decision: Sendable, Hashable {
    /// Decide again at that time, milliseconds since 1970.
    case wait(until: Int64)
    /// Recover the window. `onlyFailures` is true if Apple's retries were made, so that only the notifications that still failed are
    /// missing.
    case recover(TimeWindow, onlyFailures: Bool)
  }

  public let schedule: NotificationRetrySchedule
  /// The longest wait for Apple's own retries, milliseconds. If the last of them comes later, the window is recovered at once.
  public let maxWait: Int64
  /// The time between the last retry and the recovery, milliseconds. Apple's attempts are not punctual.
  public let margin: Int64

  /// Throws for negative times.
  public init(schedule: NotificationRetrySchedule, maxWait: Int64, margin: Int64) throws(RequestRefusal) {
    guard maxWait >= 0 else { throw RequestRefusal(field: "maxWait", "must not be negative") }
    guard margin >= 0 else { throw RequestRefusal(field: "margin", "must not be negative") }
    self.schedule = schedule
    self.maxWait = maxWait
    self.margin = margin
  }

  /// The decision about an outage that has ended. All times are milliseconds since 1970.
  public func decide(_ outage: TimeWindow, evidence: Evidence, now: Int64) -> Decision {
    // During a silence, another server may have answered 200 at our URL. Apple then counts the notifications as delivered, and not as
    // failed.
    let onlyFailures = evidence == .heartbeat
    guard let lastRetry = schedule.allRetriedAt(outage, end: outage.end), lastRetry - outage.end <= maxWait else {
      return .recover(outage, onlyFailures: false)
    }
    let checkTime = lastRetry + margin
    return now < checkTime ? .wait(until: checkTime) : .recover(outage, onlyFailures: onlyFailures)
  }

  /// The next part of an ongoing outage to recover: a recovery works without ingest, so it need not wait for the outage's end. Nil while
  /// that part is shorter than ``maxWait``.
  ///
  /// - Parameters:
  ///   - recovered: the end of the part that was recovered before, or the outage's start.
  ///   - now: milliseconds since 1970, as `recovered`.
  public func piece(from recovered: Int64, now: Int64) -> TimeWindow? {
    let end = now - margin
    guard end - recovered >= max(maxWait, 1) else { return nil }
    return try? TimeWindow(start: recovered, end: end)
  }
}
