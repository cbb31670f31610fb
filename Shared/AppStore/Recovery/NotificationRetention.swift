/// How far Apple's history of notifications goes back (Get Notification History: 180 days, 30 in the sandbox).
///
/// `QueueConfiguration.notificationGeneration` of AttributionQueue is our choice of how long natural keys of notifications are stored: 200
/// days, longer than Apple's history, and the same in the sandbox.
public enum NotificationRetention {
  /// The margin at the edge of Apple's retention, since what is there may be gone before its page is read, milliseconds.
  public static let margin: Int64 = 600_000

  /// The start of Apple's retention, milliseconds since 1970.
  static func start(of server: AppStoreServer, now: Int64) -> Int64 {
    let days: Int64 = server == .production ? 180 : 30
    return now - days * TimeWindow.millisecondsPerDay
  }

  /// The start of what Apple is asked for: ``margin`` after the start of its retention, milliseconds since 1970.
  public static func startWithMargin(of server: AppStoreServer, now: Int64) -> Int64 { start(of: server, now: now + margin) }
}

extension TimeWindow {
  /// Divides the window at the start of Apple's retention.
  ///
  /// The uncovered part has to be looked up by other means: transaction history, refund history, subscription statuses.
  public func clipped(to server: AppStoreServer, now: Int64) -> (covered: TimeWindow?, uncovered: TimeWindow?) {
    let oldest = NotificationRetention.start(of: server, now: now)
    if start >= oldest { return (self, nil) }
    if end <= oldest { return (nil, self) }
    return (TimeWindow(checked: oldest, end), TimeWindow(checked: start, oldest))
  }
}
