/// A part of a recovery's window that is paged on its own, and how far it is read.
public struct HistorySlice: Sendable, Hashable {
  /// Its name within the recovery; never given twice.
  public let number: Int64
  public internal(set) var window: TimeWindow
  /// The token of its next page is its whole progress.
  public internal(set) var pager: HistoryPager
  /// Pages read of it.
  public internal(set) var pages: Int64
  /// Notifications on them.
  public internal(set) var items: Int64

  /// Whether it was just read so far that more slices may be opened beside it.
  public var tellsMuch: Bool { Double(pages) == HistorySlices.leastPages }

  public init(number: Int64, window: TimeWindow, pager: HistoryPager = HistoryPager(), pages: Int64 = 0, items: Int64 = 0) {
    self.number = number
    self.window = window
    self.pager = pager
    self.pages = pages
    self.items = items
  }
}
