/// How far Apple's history of notifications goes back (Get Notification History: 180 days, 30 in the sandbox).
///
/// The natural keys of notifications are stored for 200 days, also in the sandbox (`QueueConfiguration.notificationGeneration`). That is
/// longer than Apple's history, so a notification that recovery fetches again is still recognized as a duplicate.
public enum NotificationRetention {
  /// The margin at the start of Apple's retention, milliseconds. A notification at the very start may be gone before its page is read.
  public static let margin: Int64 = 600_000

  /// The start of Apple's retention, milliseconds since 1970.
  static func start(of server: AppStoreServer, now: Int64) -> Int64 {
    let days: Int64 = server == .production ? 180 : 30
    return now - days * TimeWindow.millisecondsPerDay
  }

  /// The earliest time for which Apple is queried: ``margin`` after the start of its retention, milliseconds since 1970.
  public static func startWithMargin(of server: AppStoreServer, now: Int64) -> Int64 { start(of: server, now: now + margin) }
}

extension TimeWindow {
  /// Divides the window at the start of Apple's retention into the part that Apple's history covers and the older part.
  ///
  /// The uncovered part can be queried only with other endpoints: transaction history, refund history, subscription statuses.
  public func clipped(to server: AppStoreServer, now: Int64) -> (covered: TimeWindow?, uncovered: TimeWindow?) {
    let oldest = NotificationRetention.start(of: server, now: now)
    if start >= oldest { return (self, nil) }
    if end <= oldest { return (nil, self) }
    return (TimeWindow(checked: oldest, end), TimeWindow(checked: start, oldest))
  }
}
