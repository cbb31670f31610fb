import AttributionProtocol

/// The newest recoveries and migrations with their progress.
struct RecoveryPage {
  /// A count of a job, such as the pages of a recovery.
  struct Part {
    let name: String
    let count: String
  }

  struct Job {
    let id: String
    let title: String
    let state: String
    let style: String
    let isRunning: Bool
    /// 0 to 100, for the element `progress`.
    let percent: String
    let about: String
    let started: Moment?
    let parts: [Part]
    /// A problem; empty if there is none.
    let trouble: String
    let hasTrouble: Bool
    /// The CSS class of the problem's notice.
    let troubleStyle: String
  }

  private static let maxJobs: Int32 = 20

  let layout: Layout
  let figures: [Figure]
  let recoveriesNotice: Notice?
  let recoveries: [Job]
  let hasNoRecoveries: Bool
  let migrationsNotice: Notice?
  let migrations: [Job]
  let hasNoMigrations: Bool

  init(_ layout: Layout, _ reader: ConsoleReader, now: Int64) async {
    self.layout = layout
    async let recoveriesResult = reader.recovery(
      NotificationRecoveryService.ListRecoveries.self, ListRecoveriesRequest(maxRecoveries: Self.maxJobs))
    async let migrationsResult = reader.recovery(
      NotificationRecoveryService.ListMigrations.self, ListMigrationsRequest(maxMigrations: Self.maxJobs))
    let (recoveries, migrations) = await (recoveriesResult, migrationsResult)
    recoveriesNotice = recoveries.notice
    // The same notice is shown once.
    migrationsNotice = migrations.notice == recoveries.notice ? nil : migrations.notice
    let foundRecoveries = recoveries.value?.recoveries ?? []
    let foundMigrations = migrations.value?.migrations ?? []
    self.recoveries = foundRecoveries.map { Self.job($0, now: now) }
    self.migrations = foundMigrations.map { Self.job($0, now: now) }
    hasNoRecoveries = foundRecoveries.isEmpty && recoveries.value != nil
    hasNoMigrations = foundMigrations.isEmpty && migrations.value != nil
    var figures: [Figure] = []
    if recoveries.value != nil {
      let running = foundRecoveries.count { $0.state == "running" }
      let failed = foundRecoveries.count { $0.state == "failed" }
      let count = DisplayFormat.plural(Int64(foundRecoveries.count), "recovery", "recoveries")
      figures = [
        Figure("Recoveries running", DisplayFormat.count(Int64(running))),
        Figure(
          "Recovered", DisplayFormat.count(foundRecoveries.reduce(0) { $0 + ($1.accepted ?? 0) }),
          note: "notifications, by the last \(count)"),
        Figure("Failed", DisplayFormat.count(Int64(failed)), note: "of the last \(count)", style: failed > 0 ? "bad" : "good"),
      ]
    }
    if migrations.value != nil {
      figures.append(
        Figure("Receipts waiting", DisplayFormat.count(foundMigrations.reduce(0) { $0 + ($1.waiting ?? 0) }), note: "in migrations"))
    }
    self.figures = figures
  }

  private static func style(_ state: String) -> String {
    switch state {
    case "running": "run"
    case "completed": "good"
    case "failed": "bad"
    default: "plain"
    }
  }

  private static func percent(_ progress: Double?) -> String { Plot.number(max(0, min(1, progress ?? 0)) * 100) }

  private static func job(_ one: Recovery, now: Int64) -> Job {
    var about = [one.environment]
    if let start = one.startDate, let end = one.endDate { about.append(DisplayFormat.range(start, end)) }
    switch one.origin {
    case "outage": about.append("after an outage")
    case "schedule": about.append("by schedule")
    case "request": about.append("by request")
    default: break
    }
    if let type = one.notificationType { about.append(type) }
    var trouble = one.lastError.map(Redaction.text) ?? ""
    if !one.uncovered.isEmpty {
      trouble += (trouble.isEmpty ? "" : " ") + "Apple's history no longer covers a part of the time range."
    }
    return Job(
      id: one.recoveryId, title: one.bundleId, state: one.state, style: style(one.state), isRunning: one.state == "running",
      percent: percent(one.progress), about: about.filter { !$0.isEmpty }.joined(separator: " · "),
      started: Moment(one.startedAt, now: now),
      parts: [
        Part(name: "fetched", count: DisplayFormat.count(one.fetched ?? 0)),
        Part(name: "recovered", count: DisplayFormat.count(one.accepted ?? 0)),
        Part(name: "duplicates", count: DisplayFormat.count(one.duplicates ?? 0)),
        Part(name: "failed", count: DisplayFormat.count(one.failed ?? 0)),
        Part(name: "pages", count: DisplayFormat.count(one.pages ?? 0)),
      ], trouble: trouble, hasTrouble: !trouble.isEmpty, troubleStyle: one.state == "failed" ? "bad" : "warn")
  }

  private static func job(_ one: Migration, now: Int64) -> Job {
    let failed = one.failed ?? 0
    let isIncomplete = failed > 0 || one.partialFailures ?? 0 > 0
    return Job(
      id: one.migrationId, title: one.bundleId, state: one.state, style: style(one.state), isRunning: one.state == "running",
      percent: percent(one.progress), about: DisplayFormat.plural(one.receipts ?? 0, "receipt", "receipts"),
      started: Moment(one.startedAt, now: now),
      parts: [
        Part(name: "migrated", count: DisplayFormat.count(one.migrated ?? 0)),
        Part(name: "waiting", count: DisplayFormat.count(one.waiting ?? 0)),
        Part(name: "failed", count: DisplayFormat.count(failed)),
        Part(name: "duplicates", count: DisplayFormat.count(one.duplicates ?? 0)),
        Part(name: "without a purchase", count: DisplayFormat.count(one.noPurchase ?? 0)),
        Part(name: "subscriptions", count: DisplayFormat.count(one.subscriptions ?? 0)),
        Part(name: "transactions", count: DisplayFormat.count(one.transactions ?? 0)),
      ],
      trouble: isIncomplete ? "ListMigrationFailures lists the receipts that could not be migrated, and ids that could not be used." : "",
      hasTrouble: isIncomplete, troubleStyle: "warn")
  }
}
