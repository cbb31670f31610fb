import AppStore
import AttributionProtocol
import WireJSON

/// A window whose notifications are brought back, and how far that is. Stored after each page: a killed instance's work goes on.
struct RecoveryJob: Sendable, Hashable {
  enum State: String, Sendable { case running, completed, failed, cancelled }

  /// Edges of a window that are not sharp: Apple is asked for a little more there.
  struct Edges: OptionSet, Sendable {
    let rawValue: Int
    static let before = Edges(rawValue: 1)
    static let after = Edges(rawValue: 2)
  }

  let id: String
  let bundleId: String
  let server: AppStoreServer
  /// What was asked for; Apple is asked for a little more on both sides.
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
  var fetched: Int64 = 0
  var accepted: Int64 = 0
  var duplicates: Int64 = 0
  var failed: Int64 = 0
  /// Apple's own attempts by their result.
  var attemptResults: [String: Int64] = [:]
  /// What of the window Apple does not keep any more.
  private(set) var uncovered: TimeWindow?
  /// What Apple is asked for, by parts; nil when Apple keeps nothing of the window.
  var slices: HistorySlices?

  /// The outage's edges are not sharp: Apple's attempts lie around them, milliseconds.
  static let overlap: Int64 = 600_000
  /// What is on the edge of Apple's retention is gone before its page is read, milliseconds.
  static let retentionMargin: Int64 = 600_000

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
    // Refuses wrong combinations of filters before the job exists.
    _ = try request(window)
    uncovered = window.clipped(to: server, now: startedAt).uncovered
    let wide = try TimeWindow(
      start: edges.contains(.before) ? max(1, window.start - Self.overlap) : window.start,
      // Nothing is in the future; a window that reaches there would be cut into slices of which most are empty.
      end: min(edges.contains(.after) ? window.end + Self.overlap : window.end, startedAt + Self.overlap))
    if uncovered != window, let asked = wide.clipped(to: server, now: startedAt + Self.retentionMargin).covered {
      slices = HistorySlices(window: asked, mayDivide: transactionId == nil)
    }
  }

  /// The request for every page of a slice.
  func request(_ window: TimeWindow) throws(RequestRefusal) -> NotificationHistoryRequest {
    try NotificationHistoryRequest(
      window: window, notificationType: notificationType, notificationSubtype: notificationSubtype, transactionId: transactionId,
      onlyFailures: onlyFailures)
  }

  /// Where Apple's retention begins, milliseconds since 1970.
  func oldest(now: Int64) -> Int64 { now + Self.retentionMargin - server.notificationHistoryDays * 86_400_000 }

  /// Time went on and with it the start of what Apple keeps.
  mutating func noteRetention(now: Int64) { uncovered = window.clipped(to: server, now: now).uncovered }

  /// 1 when it is completed; before, the share of the window that was read.
  var progress: Double { state == .completed ? 1 : min(slices?.progress ?? 0, 0.999) }

  mutating func finish(_ state: State, now: Int64, error: String? = nil) {
    self.state = state
    completedAt = now
    if let error { lastError = error }
    if state == .completed { lastError = nil }
  }

  /// For what was stored.
  mutating func restore(uncovered: TimeWindow?, slices: HistorySlices?) {
    self.uncovered = uncovered
    self.slices = slices
  }
}
