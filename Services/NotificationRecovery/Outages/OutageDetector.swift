import AppStore
import AttributionQueue
import Logging
import RedisClient
import ServiceRuntime

/// Searches for outages of the intake, and starts recoveries limited to their windows. These verify the most urgent notifications first.
///
/// It has no state: outages are in ``IntakeJournal``, and a recovery's id contains its outage, so that each outage is recovered once,
/// whichever instance leads the app.
struct OutageDetector: Sendable {
  let journal: IntakeJournal
  let store: RecoveryStore
  let settings: RecoverySettings
  /// The factor by which Apple's retry schedule runs faster, for development.
  let timeScale: Double
  let metrics: RecoveryMetrics
  let logger: Logger

  /// The longest delay between the verification of a notification and its count, which verifier stores once a second.
  private static let settling: Duration = .seconds(3)

  /// The interval between searches.
  var interval: Duration { min(.seconds(10), settings.heartbeat * 2) }

  func detect(_ app: DeploymentConfiguration.App, _ term: AppLeadership.Term) async {
    guard app.recovery?.outages == true else { return }
    do {
      let known = try await journal.outages()
      let isDown = known.lastBeat.map { known.now - $0 > settings.outageAfter.milliseconds } ?? false
      for server in app.environments.compactMap(AppStoreServer.init(rawValue:)) {
        let rule = try OutageRule(
          schedule: NotificationRetrySchedule(server, scale: timeScale), patience: settings.retryPatience.milliseconds,
          margin: settings.retryMargin.milliseconds)
        let watched = WatchedServer(app: app, server: server, term: term, rule: rule, now: known.now)
        for outage in known.outages { try await ended(outage, .heartbeat, watched) }
        if isDown, let start = known.lastBeat { try await goesOn(since: start, until: known.now, .heartbeat, watched) }
        try await detectSilence(watched, outages: known.outages, isDown: isDown)
      }
    } catch {
      logger.debug("the search for outages failed", metadata: ["app": "\(app.bundleId)", "reason": "\(error)"])
    }
  }

  private struct WatchedServer {
    let app: DeploymentConfiguration.App
    let server: AppStoreServer
    let term: AppLeadership.Term
    let rule: OutageRule
    let now: Int64
  }

  private func detectSilence(_ watched: WatchedServer, outages: [IntakeJournal.Pause], isDown: Bool) async throws {
    guard !(try await silences(watched, until: nil)).isEmpty else { return }
    // Notifications after this time may not be verified yet, so silence is judged only up to it. The query costs a command per shard, so it
    // is made only for a possible silence.
    let known = try await journal.workedOff()
    // The counts of notifications that were verified a moment ago must be stored.
    try await Task.sleep(for: Self.settling)
    for silence in try await silences(watched, until: known) {
      if silence.goesOn {
        if !isDown { try await goesOn(since: silence.pause.start, until: known, .silence, watched) }
        continue
      }
      // An outage of ingest is a silence of every app, and is recovered as an outage.
      let pause = silence.pause
      let isExplained = outages.contains { 2 * (min($0.end, pause.end) - max($0.start, pause.start)) >= pause.end - pause.start }
      if !isExplained { try await ended(pause, .silence, watched) }
    }
  }

  /// The silences of an app that are outages compared with what is usual at that time of day, up to `moment` or up to now.
  private func silences(_ watched: WatchedServer, until moment: Int64?) async throws -> [(pause: IntakeJournal.Pause, goesOn: Bool)] {
    let arrivals = try await journal.arrivals(environment: watched.server.rawValue, bundleId: watched.app.bundleId)
    let end = moment ?? arrivals.now
    let rhythm = try ArrivalRhythm(bucket: IntakeJournal.bucket, counts: arrivals.counts)
    var pauses = arrivals.silences.filter { $0.end <= end }.map { (pause: $0, goesOn: false) }
    if let last = arrivals.last, last < end { pauses.append((IntakeJournal.Pause(start: last, end: end), true)) }
    return try pauses.filter { pause, _ in
      rhythm.isOutage(
        silence: try TimeWindow(start: pause.start, end: pause.end), expected: Double(settings.silenceExpected),
        minSilence: settings.silenceAfter.milliseconds)
    }
  }

  private func ended(_ outage: IntakeJournal.Pause, _ evidence: OutageRule.Evidence, _ watched: WatchedServer) async throws {
    // The part that was recovered while the outage lasted is not requested again.
    let recovered = try await store.recoveredUntil(outageName(outage.start, evidence, watched), of: watched.app.bundleId)
    let start = recovered ?? outage.start
    guard start < outage.end else { return }
    switch watched.rule.decide(try TimeWindow(start: start, end: outage.end), evidence: evidence, now: watched.now) {
    case .wait(let moment):
      logger.debug("waiting for Apple's own retries", metadata: ["app": "\(watched.app.bundleId)", "until": "\(moment)"])
    case .recover(let window, let onlyFailures):
      try await begin(
        window, evidence, watched, onlyFailures: onlyFailures, edges: recovered == nil ? [.before, .after] : .after)
    }
  }

  private func goesOn(since start: Int64, until end: Int64, _ evidence: OutageRule.Evidence, _ watched: WatchedServer) async throws {
    let name = outageName(start, evidence, watched)
    let recovered = try await store.recoveredUntil(name, of: watched.app.bundleId)
    guard let piece = watched.rule.piece(from: recovered ?? start, now: end) else { return }
    try await begin(piece, evidence, watched, onlyFailures: false, edges: recovered == nil ? .before : [])
    // If this fails, the next part begins at the same time; it is then requested twice and counted once.
    _ = try await store.setRecovered(name, until: piece.end, watched.term)
  }

  /// The start identifies an outage.
  private func outageName(_ start: Int64, _ evidence: OutageRule.Evidence, _ watched: WatchedServer) -> String {
    "\(watched.server.rawValue):\(evidence.rawValue):\(start)"
  }

  private func begin(
    _ window: TimeWindow, _ evidence: OutageRule.Evidence, _ watched: WatchedServer, onlyFailures: Bool, edges: RecoveryJob.Edges
  ) async throws {
    let id = RecoveryID.make([
      "outage", watched.app.bundleId, watched.server.rawValue, evidence.rawValue, String(window.start), String(window.end),
    ])
    guard try await store.job(id, of: watched.app.bundleId) == nil else { return }
    try await store.create(
      RecoveryJob(
        id: id, bundleId: watched.app.bundleId, server: watched.server, window: window, onlyFailures: onlyFailures, origin: .outage,
        edges: edges, startedAt: WallClock.now()))
    metrics.noticed(evidence)
    logger.warning(
      "the recovery of an outage begins",
      metadata: [
        "recovery": "\(id)", "app": "\(watched.app.bundleId)", "environment": "\(watched.server.rawValue)",
        "evidence": "\(evidence.rawValue)", "from": "\(window.start)", "until": "\(window.end)", "onlyFailures": "\(onlyFailures)",
      ])
  }
}
