/// Apple's own retries of a notification that it could not deliver (Responding to App Store Server Notifications): in production 1, 12, 24,
/// 48 and 72 hours after the previous attempt, in the sandbox none. Times are milliseconds.
public struct NotificationRetrySchedule: Sendable, Hashable {
  /// The times from the first attempt to each retry: in production 1, 13, 37, 85 and 157 hours.
  public let offsets: [Int64]

  /// - Parameter scale: the factor by which the schedule runs faster, in development.
  public init(_ server: AppStoreServer, scale: Double = 1) {
    let hours: [Double] = server == .production ? [1, 12, 24, 48, 72] : []
    var sum = 0.0
    offsets = hours.map { step in
      sum += step
      return Int64((sum * 3_600_000 / scale).rounded(.up))
    }
  }

  /// The time of Apple's first attempt after `moment`, for a notification that Apple first sent at `first`; nil if there is none.
  public func attempt(after moment: Int64, first: Int64) -> Int64? {
    if first > moment { return first }
    return offsets.lazy.map { first + $0 }.first { $0 > moment }
  }

  /// The time by which Apple will have retried, after `end`, every notification that it first sent in the window; nil if some of them have
  /// no retry left.
  func allRetriedAt(_ window: TimeWindow, end: Int64) -> Int64? {
    // The latest retry is that of the earliest notification, of the last one, or of one whose previous attempt was just at `end`.
    var latest: Int64 = 0
    let firsts = [window.start, window.end - 1] + offsets.map { end - $0 }.filter { $0 >= window.start && $0 < window.end }
    for first in firsts {
      guard let attempt = attempt(after: end, first: first) else { return nil }
      latest = max(latest, attempt)
    }
    return latest
  }
}
