/// What to do about an outage: wait for Apple's own retries, or recover just its window.
public struct OutageRule: Sendable, Hashable {
  /// The evidence of an outage.
  public enum Evidence: String, Sendable, Hashable {
    /// There was no heartbeat of ingest.
    case heartbeat
    /// There were unusually few notifications of an app.
    case silence
  }

  public enum Decision: Sendable, Hashable {
    /// Check again at that time, milliseconds since 1970.
    case wait(until: Int64)
    /// Recover the window. `onlyFailures`: true if Apple's retries were made and only failed deliveries are left.
    case recover(TimeWindow, onlyFailures: Bool)
  }

  public let schedule: NotificationRetrySchedule
  /// The longest wait for Apple's own retries, milliseconds. What later retries would bring is recovered at once.
  public let patience: Int64
  /// The time after a retry at which its result is checked, milliseconds, because Apple's attempts are not punctual.
  public let margin: Int64

  /// Throws for negative times.
  public init(schedule: NotificationRetrySchedule, patience: Int64, margin: Int64) throws(RequestRefusal) {
    guard patience >= 0 else { throw RequestRefusal(field: "patience", "must not be negative") }
    guard margin >= 0 else { throw RequestRefusal(field: "margin", "must not be negative") }
    self.schedule = schedule
    self.patience = patience
    self.margin = margin
  }

  /// The decision about an outage that has ended. All times are milliseconds since 1970.
  public func decide(_ outage: TimeWindow, evidence: Evidence, now: Int64) -> Decision {
    // During a silence, another server may have answered 200, so that Apple counts the notifications as delivered.
    let onlyFailures = evidence == .heartbeat
    guard let again = schedule.triedAgain(outage, end: outage.end), again - outage.end <= patience else {
      return .recover(outage, onlyFailures: false)
    }
    let checkTime = again + margin
    return now < checkTime ? .wait(until: checkTime) : .recover(outage, onlyFailures: onlyFailures)
  }

  /// The part of an ongoing outage that can be recovered now, since recovery works without ingest. Nil while it is shorter than `patience`.
  /// `recovered`: the end of the part that was recovered before, or the outage's start.
  public func piece(from recovered: Int64, now: Int64) -> TimeWindow? {
    let end = now - margin
    guard end - recovered >= max(patience, 1) else { return nil }
    return try? TimeWindow(start: recovered, end: end)
  }
}
