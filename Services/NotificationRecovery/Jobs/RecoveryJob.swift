import AppStore
import AttributionProtocol
import WireJSON

/// A window whose notifications are brought back, and how far that is. Stored after each page: a killed instance's work goes on.
struct RecoveryJob: Sendable, Hashable {
  enum State: String, Sendable { case running, completed, failed, cancelled }

  let id: String
  let bundleId: String
  let server: AppStoreServer
  /// What was asked for; Apple is asked for a little more on both sides.
  let window: TimeWindow
  let notificationType: String?
  let notificationSubtype: String?
  let transactionId: String?
  let onlyFailures: Bool
  /// Milliseconds since 1970.
  let startedAt: Int64

  var state = State.running
  var completedAt: Int64?
  var lastError: String?
  var paginationToken: String?
  var restarts = 0
  var pages: Int64 = 0
  var fetched: Int64 = 0
  var accepted: Int64 = 0
  var duplicates: Int64 = 0
  var failed: Int64 = 0
  /// Apple's own attempts by their result.
  var attemptResults: [String: Int64] = [:]
  /// What of the window Apple does not keep any more.
  var uncovered: TimeWindow?
  /// What Apple is asked for; fixed while paging, since the body must stay the same.
  var asked: TimeWindow?

  /// The outage's edges are not sharp: Apple's attempts lie around them, milliseconds.
  static let overlap: Int64 = 600_000
  /// What is on the edge of Apple's retention is gone before its page is read, milliseconds.
  static let retentionMargin: Int64 = 600_000

  init(
    id: String, bundleId: String, server: AppStoreServer, window: TimeWindow, notificationType: String? = nil,
    notificationSubtype: String? = nil, transactionId: String? = nil, onlyFailures: Bool = false, startedAt: Int64
  ) throws(RequestRefusal) {
    self.id = id
    self.bundleId = bundleId
    self.server = server
    self.window = window
    self.notificationType = notificationType
    self.notificationSubtype = notificationSubtype
    self.transactionId = transactionId
    self.onlyFailures = onlyFailures
    self.startedAt = startedAt
    try clip(now: startedAt)
    // Refuses wrong combinations of filters before the job exists.
    _ = try request(window)
  }

  /// Divides the window by what Apple keeps now; done at the start and when Apple says that the start has become too old.
  mutating func clip(now: Int64) throws(RequestRefusal) {
    uncovered = window.clipped(to: server, now: now).uncovered
    let wide = try TimeWindow(start: max(1, window.start - Self.overlap), end: window.end + Self.overlap)
    asked = wide.clipped(to: server, now: now + Self.retentionMargin).covered
    if uncovered == window { asked = nil }
  }

  /// The request for every page; nil when Apple keeps nothing of the window.
  func request() throws(RequestRefusal) -> NotificationHistoryRequest? {
    guard let asked else { return nil }
    return try request(asked)
  }

  private func request(_ window: TimeWindow) throws(RequestRefusal) -> NotificationHistoryRequest {
    try NotificationHistoryRequest(
      window: window, notificationType: notificationType, notificationSubtype: notificationSubtype, transactionId: transactionId,
      onlyFailures: onlyFailures)
  }

  /// Apple does not say how many pages there are: an estimate that only grows.
  var progress: Double { state == .completed ? 1 : Double(pages) / Double(pages + 1) }

  mutating func finish(_ state: State, now: Int64, error: String? = nil) {
    self.state = state
    completedAt = now
    if let error { lastError = error }
    if state == .completed { lastError = nil }
    paginationToken = nil
  }
}
