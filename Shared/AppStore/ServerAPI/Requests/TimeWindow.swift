/// A time window, milliseconds since 1970: the start is inclusive, the end exclusive.
public struct TimeWindow: Sendable, Hashable {
  public let start: Int64
  public let end: Int64

  public static let millisecondsPerDay: Int64 = 86_400_000
  /// The margin at the edge of Apple's retention, since what is there may be gone before its page is read, milliseconds.
  public static let retentionMargin: Int64 = 600_000

  /// Throws unless the start is before the end, as Apple requires (4000013).
  public init(start: Int64, end: Int64) throws(RequestRefusal) {
    guard start > 0 else { throw RequestRefusal(field: "startDate", "must be after 1970") }
    guard start < end else { throw RequestRefusal(field: "startDate", "must be before endDate") }
    self.start = start
    self.end = end
  }

  private init(checked start: Int64, _ end: Int64) {
    self.start = start
    self.end = end
  }

  /// Divides the window at the start of Apple's retention (Get Notification History: 180 days, 30 in the sandbox).
  ///
  /// The uncovered part has to be looked up by other means: transaction history, refund history, subscription statuses.
  public func clipped(to server: AppStoreServer, now: Int64) -> (covered: TimeWindow?, uncovered: TimeWindow?) {
    let oldest = now - server.notificationHistoryDays * Self.millisecondsPerDay
    if start >= oldest { return (self, nil) }
    if end <= oldest { return (nil, self) }
    return (TimeWindow(checked: oldest, end), TimeWindow(checked: start, oldest))
  }
}
