/// A part of a recovery's window that is paged separately, with its progress. ``HistorySlices`` cuts the window into slices.
public struct HistorySlice: Sendable, Hashable {
  /// The slice's number, unique within the recovery.
  public let number: Int64
  public internal(set) var window: TimeWindow
  /// The pager. Its token of the next page is all that is needed to continue the slice.
  public internal(set) var pager: NotificationHistoryPager
  /// The number of pages that were read.
  public internal(set) var pages: Int64
  /// The number of notifications on these pages.
  public internal(set) var items: Int64

  /// True right after the page with which enough pages were read to decide the length of further slices
  /// (``HistorySlices/openNext(readers:)``).
  public var isAtMinPages: Bool { Double(pages) == HistorySlices.minPages }

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
