import AppStore
import AttributionProtocol
import WireJSON

/// A recovery: a job that fetches the notifications of a window from Apple, and its progress. It is stored after each page, so that another
/// instance can continue it.
///
/// `StartRecoveryHandler`, ``RecoverySweeper`` and ``OutageDetector`` create jobs in the ``RecoveryStore``. The instance that leads the app
/// starts a ``RecoveryWork`` for each job (``RecoveryLeader``). The work changes the job through a ``RecoveryProgress``.
struct RecoveryJob: Sendable, Hashable {
  enum State: String, Sendable { case running, completed, failed, cancelled }

  /// The edges of a window that are not exact. Notifications up to ``RecoveryJob/overlap`` beyond such an edge are requested too.
  struct Edges: OptionSet, Sendable {
    let rawValue: Int
    static let before = Edges(rawValue: 1)
    static let after = Edges(rawValue: 2)
  }

  let id: String
  let bundleId: String
  let server: AppStoreServer
  /// The window of the recovery, without the ``overlap`` at edges that are not exact.
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
  /// The number of pages that were read.
  var pages: Int64 = 0
  /// The number of notifications on these pages.
  var fetched: Int64 = 0
  /// The number of notifications that were queued.
  var accepted: Int64 = 0
  /// The number of notifications that were known already.
  var duplicates: Int64 = 0
  /// The number of items without a signed notification.
  var failed: Int64 = 0
  /// The number of notifications that Apple has tried to deliver without success.
  var undelivered: Int64 = 0
  /// The numbers of Apple's own attempts to deliver the notifications, by result.
  var attemptResults: [String: Int64] = [:]
  /// The times of the first and the last of these attempts, by result, milliseconds since 1970; absent if Apple named no time.
  var attemptTimes: [String: ClosedRange<Int64>] = [:]
  /// The part of the window that is no longer in Apple's history.
  private(set) var uncovered: TimeWindow?
  /// The slices of the window; nil if nothing of the window is in Apple's history.
  var slices: HistorySlices?

  /// The time that is added at an edge that is not exact, milliseconds. The times of an outage are not exact, so notifications just beyond
  /// its edges may be missing too.
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
    // Invalid combinations of filters are refused here, before the job is stored.
    _ = try request(window)
    uncovered = window.clipped(to: server, now: startedAt).uncovered
    let wide = try TimeWindow(
      start: edges.contains(.before) ? max(1, window.start - Self.overlap) : window.start,
      // The end is limited, because a window that ends in the future would be cut into mostly empty slices.
      end: min(edges.contains(.after) ? window.end + Self.overlap : window.end, startedAt + Self.overlap))
    if uncovered != window, let covered = wide.clipped(to: server, now: startedAt + NotificationRetention.margin).covered {
      slices = HistorySlices(window: covered, mayDivide: transactionId == nil)
    }
  }

  /// The request for the pages of a slice with this window.
  func request(_ window: TimeWindow) throws(RequestRefusal) -> NotificationHistoryRequest {
    try NotificationHistoryRequest(
      window: window, notificationType: notificationType, notificationSubtype: notificationSubtype, transactionId: transactionId,
      onlyFailures: onlyFailures)
  }

  /// True if urgent notifications are processed first and others are held back until then. This applies after every outage. It also applies
  /// to a caller's window that is divided and has no filter for type or transaction.
  var isUrgentFirst: Bool {
    switch origin {
    case .outage: true
    case .request: notificationType == nil && transactionId == nil && slices?.isDivided == true
    case .schedule: false
    }
  }

  /// Counts Apple's attempts to deliver the notifications of a page, and the notifications for which none succeeded.
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

  /// 1 if the job is completed, otherwise the share of the window that was read. It stays below 1 until then.
  var progress: Double { state == .completed ? 1 : min(slices?.progress ?? 0, 0.999) }

  /// Ends the job. `now`: milliseconds since 1970.
  mutating func finish(_ state: State, now: Int64, error: String? = nil) {
    self.state = state
    completedAt = now
    if let error { lastError = error }
    if state == .completed { lastError = nil }
  }

  /// Sets values that were stored.
  mutating func restore(uncovered: TimeWindow?, slices: HistorySlices?) {
    self.uncovered = uncovered
    self.slices = slices
  }
}
