/// Apple's own retries of a notification (Responding to App Store Server Notifications): in production 1, 12, 24, 48 and 72 hours after the
/// previous attempt, in the sandbox none. Times are milliseconds.
public struct NotificationRetrySchedule: Sendable, Hashable {
  /// The times from the first attempt to each later one.
  public let offsets: [Int64]

  /// `scale`: the factor by which the schedule runs faster, for tests.
  public init(_ server: AppStoreServer, scale: Double = 1) {
    let hours: [Double] = server == .production ? [1, 12, 24, 48, 72] : []
    var sum = 0.0
    offsets = hours.map { step in
      sum += step
      return Int64((sum * 3_600_000 / scale).rounded(.up))
    }
  }

  /// The first attempt after `moment` for a notification that was first sent at `first`; nil if there is none.
  public func attempt(after moment: Int64, first: Int64) -> Int64? {
    if first > moment { return first }
    return offsets.lazy.map { first + $0 }.first { $0 > moment }
  }

  /// The time by which Apple will have retried every notification of a window that it could not deliver before `end`; nil if some of them
  /// will not be retried.
  func triedAgain(_ window: TimeWindow, end: Int64) -> Int64? {
    // The next attempt is a step function of the first one, and a notification just after a step waits longest.
    var latest: Int64 = 0
    let firsts = [window.start, window.end - 1] + offsets.map { end - $0 }.filter { $0 >= window.start && $0 < window.end }
    for first in firsts {
      guard let attempt = attempt(after: end, first: first) else { return nil }
      latest = max(latest, attempt)
    }
    return latest
  }
}
