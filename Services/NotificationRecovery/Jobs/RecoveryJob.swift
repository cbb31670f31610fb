import AppStore
import AttributionProtocol
import WireJSON

/// The recovery of a window's notifications, and its progress. It is stored after each page, so that another instance can continue it.
struct RecoveryJob: Sendable, Hashable {
  enum State: String, Sendable { case running, completed, failed, cancelled }

  /// The inexact edges of a window, beyond which Apple is asked for a little more.
  struct Edges: OptionSet, Sendable {
    let rawValue: Int
    static let before = Edges(rawValue: 1)
    static let after = Edges(rawValue: 2)
  }

  let id: String
  let bundleId: String
  let server: AppStoreServer
  /// The requested window. Apple is asked for a little more at its inexact edges.
  let window: TimeWindow
  let notificationType: String?
  let notificationSubtype: String?
  let transactionId: String?
  let onlyFailures: Bool
  let origin: RecoveryOrigin
  /// Milliseconds since 1970.
  let startedAt: Int64

  var state = State.running
  var completedAt: Int64?
  var lastError: String?
  var pages: Int64 = 0
  /// The number of notifications on these pages.
  var fetched: Int64 = 0
  var accepted: Int64 = 0
  var duplicates: Int64 = 0
  /// The number of notifications that could not be read.
  var failed: Int64 = 0
  /// The number of notifications that Apple has tried to deliver without success.
  var undelivered: Int64 = 0
  /// The number of Apple's own attempts by result.
  var attemptResults: [String: Int64] = [:]
  /// The times of the first and the last of these attempts, milliseconds since 1970; absent if Apple named no time.
  var attemptTimes: [String: ClosedRange<Int64>] = [:]
  /// The part of the window that Apple does not keep any more.
  private(set) var uncovered: TimeWindow?
  /// The window's slices; nil if Apple keeps nothing of the window.
  var slices: HistorySlices?

  /// The time that is added at an inexact edge, because Apple's attempts lie around the edges of an outage, milliseconds.
  static let overlap: Int64 = 600_000

  init(
    id: String, bundleId: String, server: AppStoreServer, window: TimeWindow, notificationType: String? = nil,
    notificationSubtype: String? = nil, transactionId: String? = nil, onlyFailures: Bool = false, origin: RecoveryOrigin,
    edges: Edges = [.before, .after], startedAt: Int64
  ) throws(RequestRefusal) {
    self.id = id
    self.bundleId = bundleId
    self.server = server
    self.window = window
    self.notificationType = notificationType
    self.notificationSubtype = notificationSubtype
    self.transactionId = transactionId
    self.onlyFailures = onlyFailures
    self.origin = origin
    self.startedAt = startedAt
    guard window.start <= startedAt + Self.overlap else { throw RequestRefusal(field: "startDate", "lies in the future") }
    // Invalid combinations of filters are refused before the job exists.
    _ = try request(window)
    uncovered = window.clipped(to: server, now: startedAt).uncovered
    let wide = try TimeWindow(
      start: edges.contains(.before) ? max(1, window.start - Self.overlap) : window.start,
      // A window into the future would be cut into slices of which most are empty.
      end: min(edges.contains(.after) ? window.end + Self.overlap : window.end, startedAt + Self.overlap))
    if uncovered != window, let asked = wide.clipped(to: server, now: startedAt + NotificationRetention.margin).covered {
      slices = HistorySlices(window: asked, mayDivide: transactionId == nil)
    }
  }

  /// The request for every page of a slice.
  func request(_ window: TimeWindow) throws(RequestRefusal) -> NotificationHistoryRequest {
    try NotificationHistoryRequest(
      window: window, notificationType: notificationType, notificationSubtype: notificationSubtype, transactionId: transactionId,
      onlyFailures: onlyFailures)
  }

  /// True if urgent notifications are worked first. A caller's window has priorities too if it is large enough to be divided. One with a
  /// filter is not reordered.
  var isUrgentFirst: Bool {
    switch origin {
    case .outage: true
    case .request: notificationType == nil && transactionId == nil && slices?.isDivided == true
    case .schedule: false
    }
  }

  /// Counts Apple's attempts to deliver the notifications of a page.
  mutating func count(_ items: [NotificationHistoryPage.Item]) {
    for item in items {
      if item.isUndelivered { undelivered += 1 }
      for attempt in item.sendAttempts {
        attemptResults[attempt.result, default: 0] += 1
        guard let date = attempt.date else { continue }
        let known = attemptTimes[attempt.result] ?? date...date
        attemptTimes[attempt.result] = min(known.lowerBound, date)...max(known.upperBound, date)
      }
    }
  }

  /// Updates ``uncovered``, since the start of Apple's retention moves with time.
  mutating func noteRetention(now: Int64) { uncovered = window.clipped(to: server, now: now).uncovered }

  /// 1 if it is completed, otherwise the share of the window that was read.
  var progress: Double { state == .completed ? 1 : min(slices?.progress ?? 0, 0.999) }

  mutating func finish(_ state: State, now: Int64, error: String? = nil) {
    self.state = state
    completedAt = now
    if let error { lastError = error }
    if state == .completed { lastError = nil }
  }

  /// Restores stored values.
  mutating func restore(uncovered: TimeWindow?, slices: HistorySlices?) {
    self.uncovered = uncovered
    self.slices = slices
  }
}
