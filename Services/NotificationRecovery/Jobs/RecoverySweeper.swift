import AppStore
import AttributionQueue
import Logging
import RedisClient
import ServiceRuntime

/// Starts recoveries by an app's schedule: frequent ones for failed deliveries, and one a day for all notifications that Apple's retries
/// may have delivered.
struct RecoverySweeper: Sendable {
  let store: RecoveryStore
  let logger: Logger

  private static let day = TimeWindow.millisecondsPerDay
  /// The window of the daily recovery. It is shorter than the 157 hours from Apple's first attempt to the last, because a notification that
  /// fails that long was found by the recoveries of failures.
  private static let fullLookback = 4 * day

  /// Starts the recoveries that are due.
  func sweep(_ app: DeploymentConfiguration.App, now: Int64) async {
    guard let recovery = app.recovery, let schedule = recovery.schedule else { return }
    let every = max(60_000, schedule.milliseconds)
    // At least as long as the time since the last one, so that no failure is between two windows.
    let lookback = max(recovery.lookback.milliseconds, every)
    for server in app.environments.compactMap(AppStoreServer.init(rawValue:)) {
      await start(app, server, "failures", every: every, lookback, onlyFailures: true, now)
      await start(app, server, "all", every: Self.day, Self.fullLookback, onlyFailures: false, now)
    }
  }

  /// The id contains the scheduled time, so that several leaders start the recovery once.
  private func start(
    _ app: DeploymentConfiguration.App, _ server: AppStoreServer, _ kind: String, every: Int64, _ lookback: Int64, onlyFailures: Bool,
    _ now: Int64
  ) async {
    let turn = now / every * every
    let id = RecoveryID.make(["sweep", app.bundleId, server.rawValue, kind, String(turn), String(every)])
    do {
      guard try await store.job(id, of: app.bundleId) == nil else { return }
      let window = try TimeWindow(start: max(1, turn - lookback), end: turn)
      try await store.create(
        RecoveryJob(
          id: id, bundleId: app.bundleId, server: server, window: window, onlyFailures: onlyFailures, origin: .schedule, startedAt: now))
      logger.debug("scheduled recovery", metadata: ["recovery": "\(id)", "app": "\(app.bundleId)", "kind": "\(kind)"])
    } catch {
      logger.debug("a scheduled recovery is not started yet", metadata: ["reason": "\(error)"])
    }
  }
}
