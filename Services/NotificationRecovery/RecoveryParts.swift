import AppStore
import AttributionProtocol
import AttributionQueue
import HTTPClient
import ServiceRuntime

extension ServiceParts {
  /// Builds notification-recovery: the leader of recoveries (``RecoveryLeader``), the workers of the queues `gaps`, `migrations` and
  /// `reports` (``GapWork``, ``MigrationWork``, ``ReportWork``), and the handlers of the RPCs. All calls to Apple go through one
  /// `AppStoreServerAPIClient`, whose tokens come from signer (``SignerTokens``).
  static func notificationRecovery(_ environment: ServiceEnvironment) throws -> ServiceParts {
    let (redis, deliveries) = try environment.requiredDeliveries()
    let configuration = environment.configuration
    let variables = environment.variables
    let metrics = RecoveryMetrics(environment.metrics)
    let tokens = SignerTokens(signer: environment.rpcClient(of: .signer, baseURL: variables.signerURL), configuration: configuration)
    let client = AppStoreServerAPIClient(
      http: environment.httpClient(),
      baseURLs: [.production: variables.appStoreProductionURL, .sandbox: variables.appStoreSandboxURL],
      pacing: ApplePacing(redis: redis, rates: try ApplePacing.rates(configuration.recovery), metrics: metrics),
      keyRefused: { [logger = environment.logger] bundleId, server, key in
        let app = configuration.app(bundleId)
        let keyId = (key == .first ? app?.appStoreServer : app?.otherAppStoreServer)?.keyId ?? ""
        logger.warning(
          "Apple refuses a key for the App Store Server API; the app's other key is tried",
          metadata: ["app": "\(bundleId)", "environment": "\(server.rawValue)", "keyId": "\(keyId)"])
        metrics.countError(AppStoreServerAPIError.Classification.credentials.rawValue)
      },
      token: { (bundleId, server, key, isNew, deadline) throws(AppStoreServerAPIError) in
        try await tokens.token(bundleId: bundleId, server: server, key: key, isNew: isNew, deadline: deadline)
      })
    let store = RecoveryStore(redis: redis)
    let calls = AppStoreCalls(
      client: client, verifier: try configuration.signedDataVerifier(environment.logger).ofSignedData(of: configuration.knownApps),
      configuration: configuration, metrics: metrics, logger: environment.logger)
    let settings = configuration.recovery
    let leadership = AppLeadership(redis: redis, lease: settings.lease)
    let logger = environment.logger
    let sweeper = RecoverySweeper(store: store, logger: logger)
    let journal = IntakeJournal(redis: redis)
    let outages = OutageDetector(
      journal: journal, store: store, settings: settings, timeScale: variables.timeScale, metrics: metrics,
      logger: logger)
    let backpressure = IntakeBackpressure(deliveries: deliveries, maxWaiting: settings.intakeBacklog, maxHeld: settings.heldBacklog)
    let leader = RecoveryLeader(
      apps: configuration.apps.filter { $0.appStoreServer != nil }.map(\.bundleId), leadership: leadership, store: store, logger: logger,
      work: { term in
        RecoveryWork(
          client: client, deliveries: deliveries, store: store, term: term, settings: settings, backpressure: backpressure,
          metrics: metrics, logger: logger)
      },
      watch: { term in
        guard let app = configuration.app(term.bundleId) else { return }
        while !Task.isCancelled {
          await sweeper.sweep(app, now: WallClock.now())
          await outages.detect(app, term)
          do { try await Task.sleep(for: outages.interval) } catch { return }
        }
      })
    let gaps = GapStore(redis: redis)
    let gapWork = GapWork(
      calls: calls, deliveries: deliveries, store: gaps, journal: journal, outageAfter: settings.outageAfter,
      timeScale: variables.timeScale, metrics: metrics, logger: environment.logger)
    let gapWorker = ShardWorker(
      queue: .gaps, deliveries: deliveries, pace: .waiting(shards: 32), observe: QueueMetrics.observer(.gaps, environment.metrics)
    ) { lease in await gapWork.handle(lease) }
    let migrations = MigrationStore(redis: redis, settings: configuration.migrations)
    let migrationWork = MigrationWork(
      calls: calls, deliveries: deliveries, store: migrations, metrics: metrics, logger: environment.logger)
    let migrationWorker = ShardWorker(
      queue: .migrations, deliveries: deliveries, pace: .waiting(shards: 32),
      observe: QueueMetrics.observer(.migrations, environment.metrics)
    ) { lease in await migrationWork.handle(lease) }
    let reports = ReportStore(redis: redis)
    let reportWork = ReportWork(calls: calls, store: reports, metrics: metrics, logger: environment.logger)
    let reportWorker = ShardWorker(
      queue: .reports, deliveries: deliveries, pace: .waiting(shards: 32), observe: QueueMetrics.observer(.reports, environment.metrics)
    ) { lease in await reportWork.handle(lease) }

    var parts = ServiceParts()
    parts.methods =
      NotificationRecoveryService.methods + RetentionService.methods + AdvancedCommerceService.methods + ExternalPurchaseService.methods
      + QueuesService.methods
    parts.handlers = [
      StartRecoveryHandler(calls: calls, store: store, maxRunning: settings.maxRunning), GetRecoveryHandler(store: store),
      ListRecoveriesHandler(store: store),
      CancelRecoveryHandler(store: store, leadership: leadership),
      RequestTestNotificationHandler(calls: calls), GetTestNotificationStatusHandler(calls: calls),
      GetSubscriptionStatusesHandler(calls: calls), GetTransactionHistoryHandler(calls: calls),
      GetTransactionInfoHandler(calls: calls), LookUpOrderHandler(calls: calls), GetRefundHistoryHandler(calls: calls),
      GetAppTransactionInfoHandler(calls: calls),
      ExtendSubscriptionRenewalDateHandler(calls: calls, records: ExtensionRecords(redis: redis)),
      ExtendRenewalDatesForAllSubscribersHandler(calls: calls, records: ExtensionRecords(redis: redis)),
      GetRenewalDateExtensionStatusHandler(calls: calls),
      SendConsumptionInformationHandler(calls: calls, requests: deliveries.consumptionRequests),
      SetAppAccountTokenHandler(calls: calls), FinishTransactionHandler(calls: calls),
      ListGapsHandler(store: gaps, configuration: configuration),
      MigrateReceiptsHandler(calls: calls, deliveries: deliveries, store: migrations, maxReceipts: configuration.limits.batchItems),
      GetMigrationHandler(store: migrations), ListMigrationsHandler(store: migrations), ListMigrationFailuresHandler(store: migrations),
      CancelMigrationHandler(store: migrations),
    ]
    parts.handlers += RetentionHandlers.all(calls, redis: redis)
    parts.handlers += CommerceHandlers.all(calls, redis: redis, notifications: deliveries.commerceNotifications)
    parts.handlers += ReportHandlers.all(calls, deliveries: deliveries, store: reports)
    parts.handlers += QueueHandlers.all(deliveries, metrics: environment.metrics)
    parts.callsSigner = true
    let probe = environment.httpClient()
    parts.upstreams = [
      Upstream(name: "App Store Server API, production", url: variables.appStoreProductionURL, http: probe),
      Upstream(name: "App Store Server API, sandbox", url: variables.appStoreSandboxURL, http: probe),
    ]
    parts.workers = [BackgroundWork { await leader.run() }]
    parts.workers.append(BackgroundWork(stop: { gapWorker.stop() }, work: { await gapWorker.run() }))
    parts.workers.append(BackgroundWork(stop: { migrationWorker.stop() }, work: { await migrationWorker.run() }))
    parts.workers.append(BackgroundWork(stop: { reportWorker.stop() }, work: { await reportWorker.run() }))
    parts.checks = [
      ReadinessCheck(name: "recovery-runner") { leader.isStalled ? "stalled" : nil },
      ReadinessCheck(name: "gaps-worker") { gapWorker.isStalled ? "stalled" : nil },
      ReadinessCheck(name: "migrations-worker") { migrationWorker.isStalled ? "stalled" : nil },
      ReadinessCheck(name: "reports-worker") { reportWorker.isStalled ? "stalled" : nil },
    ]
    return parts
  }
}
