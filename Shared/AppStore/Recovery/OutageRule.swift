/// What is to be done about an outage: nothing yet, because Apple's own retries mend it, or a recovery of just its window.
public struct OutageRule: Sendable, Hashable {
  /// How an outage was noticed.
  public enum Evidence: String, Sendable, Hashable {
    /// No instance of ingest was alive.
    case heartbeat
    /// A talkative app was silent.
    case silence
  }

  public enum Decision: Sendable, Hashable {
    /// Look again at that moment, milliseconds since 1970.
    case wait(until: Int64)
    /// Recover the window. `onlyFailures`: Apple's retries had their turn, only what they did not bring is left.
    case recover(TimeWindow, onlyFailures: Bool)
  }

  public let schedule: NotificationRetrySchedule
  /// How long Apple's own retries are waited for, milliseconds. What they bring later is fetched at once.
  public let patience: Int64
  /// How long after the last retry's time it is looked at, milliseconds: Apple's attempts are not punctual.
  public let margin: Int64

  /// Refuses times below zero.
  public init(schedule: NotificationRetrySchedule, patience: Int64, margin: Int64) throws(RequestRefusal) {
    guard patience >= 0 else { throw RequestRefusal(field: "patience", "must not be negative") }
    guard margin >= 0 else { throw RequestRefusal(field: "margin", "must not be negative") }
    self.schedule = schedule
    self.patience = patience
    self.margin = margin
  }

  /// An outage that is over. `now` and all times in milliseconds since 1970.
  public func decide(_ outage: TimeWindow, evidence: Evidence, now: Int64) -> Decision {
    // Somebody may have answered 200 in our place during a silence: Apple holds that for delivered.
    let onlyFailures = evidence == .heartbeat
    guard let again = schedule.triedAgain(outage, end: outage.end), again - outage.end <= patience else {
      return .recover(outage, onlyFailures: false)
    }
    let look = again + margin
    return now < look ? .wait(until: look) : .recover(outage, onlyFailures: onlyFailures)
  }

  /// An outage that goes on: what of it is to be recovered without waiting for its end, since recovery takes in by itself, without
  /// ingest. Nil while that is less than one patience. `recovered` is up to where it was recovered before, or its start.
  public func piece(from recovered: Int64, now: Int64) -> TimeWindow? {
    let end = now - margin
    guard end - recovered >= max(patience, 1) else { return nil }
    return try? TimeWindow(start: recovered, end: end)
  }
}
