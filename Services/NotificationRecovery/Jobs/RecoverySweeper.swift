import AppStore
import AttributionQueue
import Logging
import RedisClient
import ServiceRuntime

/// Starts recoveries by an app's schedule (settings `recovery.schedule` and `recovery.lookback` of the app): frequent ones for
/// notifications that Apple could not deliver, and one a day for all notifications, also for those that Apple counts as delivered.
struct RecoverySweeper: Sendable {
  let store: RecoveryStore
  let logger: Logger

  private static let day = TimeWindow.millisecondsPerDay
  /// The length of the daily recovery's window, milliseconds. It is shorter than the 157 hours from Apple's first attempt to the last,
  /// because the frequent recoveries find a notification whose attempts fail for that long.
  private static let fullLookback = 4 * day

  /// Starts the recoveries that are due.
  func sweep(_ app: DeploymentConfiguration.App, now: Int64) async {
    guard let recovery = app.recovery, let schedule = recovery.schedule else { return }
    let every = max(60_000, schedule.milliseconds)
    // At least as long as the interval, so that no failure lies between the windows of two recoveries.
    let lookback = max(recovery.lookback.milliseconds, every)
    for server in app.environments.compactMap(AppStoreServer.init(rawValue:)) {
      await start(app, server, "failures", every: every, lookback, onlyFailures: true, now)
      await start(app, server, "all", every: Self.day, Self.fullLookback, onlyFailures: false, now)
    }
  }

  /// Starts the recovery of the last scheduled time, unless it was started before. Its id is made from that time, so that it is started
  /// only once, even if two instances lead for a moment.
  private func start(
    _ app: DeploymentConfiguration.App, _ server: AppStoreServer, _ kind: String, every: Int64, _ lookback: Int64, onlyFailures: Bool,
    _ now: Int64
  ) async {
    let scheduledAt = now / every * every
    let id = RecoveryID.make(["sweep", app.bundleId, server.rawValue, kind, String(scheduledAt), String(every)])
    do {
      guard try await store.job(id, of: app.bundleId) == nil else { return }
      let window = try TimeWindow(start: max(1, scheduledAt - lookback), end: scheduledAt)
      try await store.create(
        RecoveryJob(
          id: id, bundleId: app.bundleId, server: server, window: window, onlyFailures: onlyFailures, origin: .schedule, startedAt: now))
      logger.debug("a scheduled recovery starts", metadata: ["recovery": "\(id)", "app": "\(app.bundleId)", "kind": "\(kind)"])
    } catch {
      logger.debug("a scheduled recovery is not started yet", metadata: ["reason": "\(error)"])
    }
  }
}
