import AppStore
import Logging
import RedisClient
import ServiceRuntime

/// Starts recoveries by the apps' schedules: often for what Apple could not deliver, once a day for everything that its retries
/// may have been about.
struct RecoverySweeper: Sendable {
  let apps: [DeploymentConfiguration.App]
  let store: RecoveryStore
  let logger: Logger

  private static let day: Int64 = 86_400_000
  /// Apple's last retry comes 157 hours after the first attempt; what is older was either taken in or is a failure.
  private static let fullLookback = 4 * day

  /// Until its task is cancelled.
  func run() async {
    while !Task.isCancelled {
      for app in apps { await sweep(app) }
      do { try await Task.sleep(for: .seconds(10)) } catch { return }
    }
  }

  private func sweep(_ app: DeploymentConfiguration.App) async {
    guard let recovery = app.recovery, let schedule = recovery.schedule, app.appStoreServer != nil else { return }
    let now = WallClock.now()
    let lookback = Int64(recovery.lookback / .milliseconds(1))
    for server in app.environments.compactMap(AppStoreServer.init(rawValue:)) {
      await start(app, server, "failures", every: max(60_000, Int64(schedule / .milliseconds(1))), lookback, onlyFailures: true, now)
      await start(app, server, "all", every: Self.day, Self.fullLookback, onlyFailures: false, now)
    }
  }

  /// The id names the turn: whichever instance comes first starts it, once.
  private func start(
    _ app: DeploymentConfiguration.App, _ server: AppStoreServer, _ kind: String, every: Int64, _ lookback: Int64, onlyFailures: Bool,
    _ now: Int64
  ) async {
    let turn = now / every * every
    let id = RecoveryID.make(["sweep", app.bundleId, server.rawValue, kind, String(turn), String(every)])
    do {
      // One that still runs may have lost its place among those to work on; giving it again costs nothing.
      if let job = try await store.job(id), job.state != .running { return }
      let window = try TimeWindow(start: max(1, turn - lookback), end: turn)
      try await store.create(
        RecoveryJob(id: id, bundleId: app.bundleId, server: server, window: window, onlyFailures: onlyFailures, startedAt: now))
      logger.debug("scheduled recovery", metadata: ["recovery": "\(id)", "app": "\(app.bundleId)", "kind": "\(kind)"])
    } catch {
      logger.debug("a scheduled recovery is not started yet", metadata: ["reason": "\(error)"])
    }
  }
}
