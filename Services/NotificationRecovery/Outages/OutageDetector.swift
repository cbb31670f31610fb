import AppStore
import AttributionQueue
import Logging
import RedisClient
import ServiceRuntime

/// Searches for times in which notifications did not arrive, and starts recoveries of just these times. There are two kinds of evidence: no
/// instance of ingest wrote a heartbeat, or an app had unusually few notifications (`ArrivalRhythm`). `OutageRule` decides when an outage
/// is recovered; both are in the module AppStore.
///
/// The detector has no state. Outages are stored in `IntakeJournal`, and the id of a recovery is made from its outage, so that each outage
/// is recovered once, whichever instance leads the app.
struct OutageDetector: Sendable {
  let journal: IntakeJournal
  let store: RecoveryStore
  let settings: RecoverySettings
  /// The factor by which Apple's retry schedule runs faster, for development.
  let timeScale: Double
  let metrics: RecoveryMetrics
  let logger: Logger

  /// The longest time from the verification of a notification until its count is stored: verifier stores counts once a second
  /// (`Workers/VerifiedArrivals.swift` of that service).
  private static let countDelay: Duration = .seconds(3)

  /// The interval between searches.
  var interval: Duration { min(.seconds(10), settings.heartbeat * 2) }

  /// Searches once for outages of an app, and starts the recoveries that are due.
  func detect(_ app: DeploymentConfiguration.App, _ term: AppLeadership.Term) async {
    guard app.recovery?.outages == true else { return }
    do {
      let known = try await journal.outages()
      let isDown = known.lastBeat.map { known.now - $0 > settings.outageAfter.milliseconds } ?? false
      for server in app.environments.compactMap(AppStoreServer.init(rawValue:)) {
        let rule = try OutageRule(
          schedule: NotificationRetrySchedule(server, scale: timeScale), maxWait: settings.retryPatience.milliseconds,
          margin: settings.retryMargin.milliseconds)
        let watched = WatchedServer(app: app, server: server, term: term, rule: rule, now: known.now)
        for outage in known.outages { try await recoverEnded(outage, .heartbeat, watched) }
        if isDown, let start = known.lastBeat { try await recoverOngoing(since: start, until: known.now, .heartbeat, watched) }
        try await detectSilence(watched, outages: known.outages, isDown: isDown)
      }
    } catch {
      logger.debug("the search for outages failed", metadata: ["app": "\(app.bundleId)", "reason": "\(error)"])
    }
  }

  /// A server of an app, with what is needed to decide about its outages.
  private struct WatchedServer {
    let app: DeploymentConfiguration.App
    let server: AppStoreServer
    let term: AppLeadership.Term
    let rule: OutageRule
    /// Milliseconds since 1970, by Redis' clock.
    let now: Int64
  }

  /// Recovers the silences of an app that count as outages.
  private func detectSilence(_ watched: WatchedServer, outages: [IntakeJournal.Pause], isDown: Bool) async throws {
    guard !(try await silences(watched, until: nil)).isEmpty else { return }
    // Notifications that were received after this time may not be verified yet, so a silence is examined only up to it. The query needs a
    // command for each shard, so it is made only if there may be a silence.
    let verifiedUntil = try await journal.handledUpTo()
    // After this pause, verifier has stored the counts of the notifications that it verified before.
    try await Task.sleep(for: Self.countDelay)
    for silence in try await silences(watched, until: verifiedUntil) {
      if silence.isOngoing {
        if !isDown { try await recoverOngoing(since: silence.pause.start, until: verifiedUntil, .silence, watched) }
        continue
      }
      // An outage of ingest causes a silence of every app. A silence of which it explains at least half is recovered as that outage.
      let pause = silence.pause
      let isExplained = outages.contains { 2 * (min($0.end, pause.end) - max($0.start, pause.start)) >= pause.end - pause.start }
      if !isExplained { try await recoverEnded(pause, .silence, watched) }
    }
  }

  /// The silences of an app that count as outages, because many notifications would be usual at their time of day.
  ///
  /// - Parameter moment: the end of the time that is examined, milliseconds since 1970; nil for the present.
  private func silences(_ watched: WatchedServer, until moment: Int64?) async throws -> [(pause: IntakeJournal.Pause, isOngoing: Bool)] {
    let arrivals = try await journal.arrivals(environment: watched.server.rawValue, bundleId: watched.app.bundleId)
    let end = moment ?? arrivals.now
    let rhythm = try ArrivalRhythm(bucket: IntakeJournal.bucketLength, counts: arrivals.counts)
    var pauses = arrivals.silences.filter { $0.end <= end }.map { (pause: $0, isOngoing: false) }
    if let last = arrivals.last, last < end { pauses.append((IntakeJournal.Pause(start: last, end: end), true)) }
    return try pauses.filter { pause, _ in
      rhythm.isOutage(
        silence: try TimeWindow(start: pause.start, end: pause.end), expected: Double(settings.silenceExpected),
        minSilence: settings.silenceAfter.milliseconds)
    }
  }

  /// Recovers an outage that has ended, as far as it was not recovered while it lasted, or leaves it to Apple's own retries for now.
  private func recoverEnded(_ outage: IntakeJournal.Pause, _ evidence: OutageRule.Evidence, _ watched: WatchedServer) async throws {
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

  /// Recovers the next part of an outage that has not ended.
  private func recoverOngoing(
    since start: Int64, until end: Int64, _ evidence: OutageRule.Evidence, _ watched: WatchedServer
  ) async throws {
    let name = outageName(start, evidence, watched)
    let recovered = try await store.recoveredUntil(name, of: watched.app.bundleId)
    guard let piece = watched.rule.piece(from: recovered ?? start, now: end) else { return }
    try await begin(piece, evidence, watched, onlyFailures: false, edges: recovered == nil ? .before : [])
    // If this fails, the next recovery begins at the same time as this one. The notifications are then requested twice and counted once.
    _ = try await store.setRecovered(name, until: piece.end, watched.term)
  }

  /// The name of an outage in Redis. An outage is identified by its server, its evidence and its start.
  private func outageName(_ start: Int64, _ evidence: OutageRule.Evidence, _ watched: WatchedServer) -> String {
    "\(watched.server.rawValue):\(evidence.rawValue):\(start)"
  }

  /// Starts the recovery of a window, unless it was started before.
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
    metrics.countOutage(evidence)
    logger.warning(
      "the recovery of an outage begins",
      metadata: [
        "recovery": "\(id)", "app": "\(watched.app.bundleId)", "environment": "\(watched.server.rawValue)",
        "evidence": "\(evidence.rawValue)", "from": "\(window.start)", "until": "\(window.end)", "onlyFailures": "\(onlyFailures)",
      ])
  }
}
