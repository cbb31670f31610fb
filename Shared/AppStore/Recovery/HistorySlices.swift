/// Divides a recovery's window into slices that are paged concurrently (Get Notification History). It is a state machine that says what to
/// read next and does no I/O: ``openNext(readers:)`` returns a slice, whose reader calls ``received(_:items:hasMore:paginationToken:)`` or
/// ``refused(_:errorCode:oldest:)`` for each of its pages, until ``isFinished``.
///
/// A pagination token leads only to the next page, so the pages of one window are read one after the other. Several windows can be read
/// concurrently. The last page of a slice is half empty on average, and an empty slice costs a whole page, so slices are sized for ten to
/// sixty pages at the density found so far:
///
/// - First, the whole window is requested. Most recoveries end with its first pages, and nothing is divided.
/// - A window with more than three pages is divided. The first slice is short, because the density is not known yet. The length of each
///   later slice is computed from the density of the last finished ones, and is at most eight times the longest finished one. A slice that
///   this limit shortened is opened alone, and the next one only after ten of its pages were read. No slice is longer than a thirty-second
///   part of the window, so that a busy time after a long quiet one is read concurrently too.
/// - Towards the end, slices become shorter, because the readers share the rest. So no reader has a long slice left when the others are
///   done.
///
/// The types of notifications are not requested one by one, because Apple's filter takes one pair of type and subtype, has no "all but
/// these", and does not include future types. Requesting the urgent types first and then everything would read the urgent ones, usually the
/// largest part, twice. So notifications get their urgency after they were read (``RecoveryUrgency``).
public struct HistorySlices: Sendable, Hashable {
  /// The number of notifications on a full page (Apple's limit).
  public static let pageSize: Int64 = 20
  /// The number of pages after which a window that has more is divided.
  static let probePages: Int64 = 3
  /// The first slice of a divided window is the window's length divided by this.
  static let firstShare: Int64 = 256
  /// A slice is at most the window's length divided by this.
  static let maxShare: Int64 = 32
  /// The fewest pages for which a slice is sized.
  static let minPages = 10.0
  /// The most pages for which a slice is sized.
  static let maxPages = 60.0
  /// A slice is at most this many times as long as the longest finished one.
  static let growth: Int64 = 8
  /// The shortest slice, milliseconds.
  static let minLength: Int64 = 1000
  /// The number of finished slices from which the density is computed.
  static let maxMeasures = 4

  /// A finished slice: its length in milliseconds and its number of notifications.
  public struct Measure: Sendable, Hashable {
    public let length: Int64
    public let items: Int64

    public init(length: Int64, items: Int64) {
      self.length = length
      self.items = items
    }
  }

  /// The whole window.
  public let window: TimeWindow
  /// The start of the next slice, milliseconds since 1970.
  public private(set) var cursor: Int64
  /// The slices that are being read, in the order in which they were opened.
  public private(set) var open: [HistorySlice] = []
  /// True if the window was divided.
  public private(set) var isDivided = false
  /// True if the window may be divided.
  public let mayDivide: Bool
  /// The slices that were finished last, newest at the end.
  public private(set) var measures: [Measure] = []
  /// The longest finished slice, milliseconds.
  public private(set) var longest: Int64 = 0
  /// The number of the next slice.
  private var nextNumber: Int64 = 0

  /// - Parameter mayDivide: false if few notifications are expected, as for one transaction.
  public init(window: TimeWindow, mayDivide: Bool = true) {
    self.window = window
    self.mayDivide = mayDivide
    cursor = window.start
  }

  /// Restores a stored state.
  public init(
    window: TimeWindow, mayDivide: Bool, cursor: Int64, isDivided: Bool, open: [HistorySlice], measures: [Measure], longest: Int64
  ) {
    self.window = window
    self.mayDivide = mayDivide
    self.cursor = min(max(cursor, window.start), window.end)
    self.isDivided = isDivided
    self.open = open
    self.measures = measures.suffix(Self.maxMeasures)
    self.longest = longest
    nextNumber = (open.map(\.number).max() ?? -1) + 1
  }

  /// True if the whole window was read.
  public var isFinished: Bool { open.isEmpty && cursor >= window.end }

  /// The share of the window that was read, 0 to 1. An open slice counts by the number of its pages relative to their expected number.
  public var progress: Double {
    if isFinished { return 1 }
    let total = Double(window.end - window.start)
    guard isDivided else {
      // Zero until it is decided whether the window is divided. Otherwise the progress could decrease, as dividing begins again at the
      // start.
      guard let whole = open.first, !mayDivide || whole.pages >= Self.probePages else { return 0 }
      return Double(whole.pages) / Double(whole.pages + 1)
    }
    var read = Double(cursor - window.start)
    for slice in open {
      let length = Double(slice.window.end - slice.window.start)
      let expected = max(Double(slice.pages) + 1, (density ?? 0) * length / Double(Self.pageSize))
      read -= length * (1 - Double(slice.pages) / expected)
    }
    return min(max(read / total, 0), 1)
  }

  /// Opens the next slice. Nil while `readers` slices are open, while the window is read undivided, while the open slices show too little
  /// about the length of the next one, or if none is left.
  public mutating func openNext(readers: Int) -> HistorySlice? {
    guard open.count < max(1, readers), cursor < window.end else { return nil }
    let length: Int64
    if isDivided {
      guard let next = nextLength(readers: max(1, readers)) else { return nil }
      length = next
    } else {
      length = window.end - window.start
    }
    let end = min(window.end, cursor + length)
    guard let part = try? TimeWindow(start: cursor, end: end) else { return nil }
    let slice = HistorySlice(number: nextNumber, window: part)
    nextNumber += 1
    cursor = end
    open.append(slice)
    return slice
  }

  /// Records that the notifications of one page were queued. Returns what to do next with the slice of that number.
  public mutating func received(_ number: Int64, items: Int, hasMore: Bool, paginationToken: String?) -> NotificationHistoryPager.Action {
    guard let index = open.firstIndex(where: { $0.number == number }) else { return .finished }
    open[index].pages += 1
    open[index].items += Int64(items)
    let action = open[index].pager.received(hasMore: hasMore, paginationToken: paginationToken)
    if action == .finished { return close(index) }
    if case .request = action, !isDivided, mayDivide, open[index].pages >= Self.probePages,
      window.end - window.start >= Self.minLength * Self.firstShare / 8
    {
      // The slices contain the notifications that were read already. The deduplication store makes them count once.
      isDivided = true
      cursor = window.start
      open.remove(at: index)
      return .finished
    }
    return action
  }

  /// Records that Apple refused a page of a slice. Returns nil if the error is not about paging.
  ///
  /// - Parameter oldest: the current start of Apple's retention, milliseconds since 1970. The slice is cut at this time.
  public mutating func refused(_ number: Int64, errorCode: Int64, oldest: Int64) -> NotificationHistoryPager.Action? {
    guard let index = open.firstIndex(where: { $0.number == number }), let action = open[index].pager.refused(errorCode: errorCode)
    else { return nil }
    if open[index].window.start < oldest {
      guard let rest = try? TimeWindow(start: oldest, end: open[index].window.end) else { return close(index) }
      open[index].window = rest
    }
    open[index].pages = 0
    open[index].items = 0
    return action
  }

  private mutating func close(_ index: Int) -> NotificationHistoryPager.Action {
    let slice = open.remove(at: index)
    let length = slice.window.end - slice.window.start
    measures = (measures + [Measure(length: length, items: slice.items)]).suffix(Self.maxMeasures)
    longest = max(longest, length)
    return .finished
  }

  /// The notifications per millisecond in the last finished slices; nil before the first one. One notification is added, so that empty
  /// slices do not give a density of zero.
  private var density: Double? {
    let length = measures.reduce(0) { $0 + $1.length }
    guard length > 0 else { return nil }
    return Double(measures.reduce(1) { $0 + $1.items }) / Double(length)
  }

  /// The length of the next slice, milliseconds; nil while the open slices show too little.
  private func nextLength(readers: Int) -> Int64? {
    guard let density else {
      return open.isEmpty ? max(Self.minLength, (window.end - window.start) / Self.firstShare) : nil
    }
    let rest = window.end - cursor
    let share = Double(rest) * density / Double(Self.pageSize) / Double(readers)
    let pages = min(max(share, Self.minPages), Self.maxPages)
    let lengthOfPages = pages * Double(Self.pageSize) / density
    let growthLimit = max(Self.minLength, longest * Self.growth)
    // This limit holds after a quiet time too, because a busy time that follows must not be in one slice.
    let maxLength = (window.end - window.start) / Self.maxShare
    let length = max(Self.minLength, min(Int64(min(lengthOfPages, Double(rest))), growthLimit, maxLength))
    // The density may be higher than the short slices before have shown. So a slice of the limit's length is opened only if no other slice
    // is open or one of them has had ten pages, because neighbouring slices are likely to be as full.
    guard length < growthLimit || open.isEmpty || open.contains(where: { Double($0.pages) >= Self.minPages }) else { return nil }
    // A short remainder is added to the last slice.
    return rest - length < length / 2 ? rest : length
  }
}
