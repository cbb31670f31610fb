/// A part of a recovery's window that is paged separately, and its progress.
public struct HistorySlice: Sendable, Hashable {
  /// Its number, unique within the recovery.
  public let number: Int64
  public internal(set) var window: TimeWindow
  /// The pager, whose token of the next page is the whole progress.
  public internal(set) var pager: NotificationHistoryPager
  /// The number of pages that were read.
  public internal(set) var pages: Int64
  /// The number of notifications on them.
  public internal(set) var items: Int64

  /// True when enough pages were read to decide about further slices.
  public var tellsMuch: Bool { Double(pages) == HistorySlices.minPages }

  public init(
    number: Int64, window: TimeWindow, pager: NotificationHistoryPager = NotificationHistoryPager(), pages: Int64 = 0, items: Int64 = 0
  ) {
    self.number = number
    self.window = window
    self.pager = pager
    self.pages = pages
    self.items = items
  }
}
