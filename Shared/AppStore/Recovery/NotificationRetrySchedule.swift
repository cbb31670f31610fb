/// When Apple sends a notification again by itself (Responding to App Store Server Notifications): in production 1, 12, 24, 48 and 72
/// hours after the attempt before, in the sandbox never. Times in milliseconds.
public struct NotificationRetrySchedule: Sendable, Hashable {
  /// From the first attempt to each later one.
  public let offsets: [Int64]

  /// `scale` is for tests: how many times faster the schedule runs.
  public init(_ server: AppStoreServer, scale: Double = 1) {
    let hours: [Double] = server == .production ? [1, 12, 24, 48, 72] : []
    var sum = 0.0
    offsets = hours.map { step in
      sum += step
      return Int64((sum * 3_600_000 / scale).rounded(.up))
    }
  }

  /// The first attempt after `moment` for a notification first sent at `first`; nil when there is none any more.
  public func attempt(after moment: Int64, first: Int64) -> Int64? {
    if first > moment { return first }
    return offsets.lazy.map { first + $0 }.first { $0 > moment }
  }

  /// By when Apple will have tried every notification of a window again that it could not deliver before `end`; nil when some of
  /// them are not tried again at all.
  public func triedAgain(_ window: TimeWindow, end: Int64) -> Int64? {
    // The next attempt grows with the first one but for steps: just after each step a notification waits longest.
    var latest: Int64 = 0
    let firsts = [window.start, window.end - 1] + offsets.map { end - $0 }.filter { $0 >= window.start && $0 < window.end }
    for first in firsts {
      guard let attempt = attempt(after: end, first: first) else { return nil }
      latest = max(latest, attempt)
    }
    return latest
  }
}
