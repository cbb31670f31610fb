import AppleAttribution
import AttributionClient
import AttributionProtocol
import AttributionQueue
import Cryptography
import HTTPClient
import RedisClient
import ServiceRuntime
import WireJSON

extension ServiceParts {
  /// Builds ingest: the public routes (``PublicRouter``) with an intake for each kind of delivery, the worker that forwards sessions
  /// (``SessionWorker``), the answers to the App Store's requests for retention messages (`Retention`), and the handlers of the RPCs.
  static func ingest(_ environment: ServiceEnvironment) throws -> ServiceParts {
    let (redis, deliveries) = try environment.requiredDeliveries()
    let configuration = try IngestConfiguration(environment.configuration)
    let store = SessionStore(redis: redis, durable: deliveries.durable, payloadSeconds: configuration.payloadSeconds)
    let metrics = IngestMetrics(environment.metrics, apps: environment.configuration.apps.map(\.bundleId))
    let journal = IntakeJournal(redis: redis)
    let heartbeat = Heartbeat(
      journal: journal, instance: RandomBytes.uuid(), settings: environment.configuration.recovery, logger: environment.logger)
    let signer = environment.eventLoopClient(of: .signer, baseURL: environment.variables.signerURL)
    let retention = try retention(environment, signer: signer, redis: redis, deliveries: deliveries)
    let router = PublicRouter(
      postbacks: PostbackIntake(deliveries: deliveries), notifications: NotificationIntake(deliveries: deliveries),
      retention: retention.intake,
      tokens: TokenIntake(
        deliveries: deliveries,
        rule: AdServicesRetryRule(
          firstCallDelay: environment.configuration.adServices.firstCallDelay.milliseconds),
        clock: ScaledClock(wall: WallClock.now, factor: environment.variables.timeScale), metrics: metrics,
        acceptsTokens: { [deployment = environment.configuration] bundleId in deployment.acceptsTokens(of: bundleId) }),
      sessions: SessionIntake(
        deliveries: deliveries, store: store, routing: configuration.routing,
        maxWait: configuration.maxWait,
        metrics: metrics, logger: environment.logger),
      webPayloads: WebPayloadIntake(signer: signer),
      acceptsNotifications: { [apps = environment.configuration.apps] bundleId in apps.contains { $0.bundleId.isExactly(bundleId) } })

    let http = environment.httpClient { client in client.connectTo = environment.variables.consentConnectTo }
    let sessions = SessionWorker(
      deliveries: deliveries, feed: EventFeed(deliveries: deliveries), store: store, routing: configuration.routing,
      forwarder: SessionForwarder(http: http, timeout: IngestConfiguration.forwardTimeout, now: WallClock.now),
      backoff: { deliveries.configuration.backoff(of: .sessions).wait(after: $0) }, retryTimeout: configuration.retryTimeout,
      metrics: metrics, logger: environment.logger, now: WallClock.now)
    let counter = DeliveryCounter(redis: redis, logger: environment.logger)
    let worker = ShardWorker(
      queue: .sessions, deliveries: deliveries, pace: .waiting(shards: Shard.count), counter: counter,
      observe: QueueMetrics.observer(.sessions, environment.metrics)
    ) { lease in await sessions.handle(lease) }

    var parts = ServiceParts()
    parts.methods = IngestService.methods + QueuesService.methods
    parts.handlers =
      [GetDeliveryHandler(deliveries: deliveries), GetAttStatusHandler(store: store, now: WallClock.now)]
      + QueueHandlers.all(deliveries, metrics: environment.metrics)
    // Services end in reverse order, so that retention answers that wait in memory are stored after the last answer.
    parts.workers = [
      BackgroundWork { await retention.intake.responder.records.run() },
      BackgroundWork { await retention.messages.run() },
      BackgroundWork { await counter.run() },
      BackgroundWork(stop: { worker.stop() }, work: { await worker.run() }), BackgroundWork { await heartbeat.run() },
    ]
    parts.checks = [ReadinessCheck(name: "sessions-worker") { worker.isStalled ? "stalled" : nil }]
    parts.callsSigner = true
    parts.reload = { configuration throws(ConfigurationError) in
      try retention.intake.live.replace(by: configuration)
      retention.messages.refresh()
    }
    parts.publicResponder = router
    return parts
  }

  private static func retention(
    _ environment: ServiceEnvironment, signer: RPCClient, redis: RedisClient, deliveries: DeliveryQueue
  ) throws(ConfigurationError) -> (intake: RetentionIntake, messages: ApprovedMessages) {
    let variables = environment.variables
    let live = try LiveRetention(environment.configuration, logger: environment.logger)
    let metrics = RetentionMetrics(environment.metrics)
    let messages = ApprovedMessages(
      live: live,
      source: variables.notificationRecoveryURL.map {
        RecoveryServiceMessageSource(recovery: environment.rpcClient(of: .notificationRecovery, baseURL: $0))
      },
      redis: redis, logger: environment.logger)
    metrics.messages { messages.ages }
    let responder = RetentionResponder(
      messages: messages,
      history: SubscriptionHistoryReader(verifier: environment.eventLoopClient(of: .verifier, baseURL: variables.verifierURL)),
      services: DecisionServices(logger: environment.logger) { environment.foreignClient(baseURL: $0.url, token: $0.token) },
      signer: RetentionSigner(offers: OfferSigning(signer: signer)),
      records: RetentionRecords(deliveries: deliveries, metrics: metrics, logger: environment.logger) { live.settings },
      metrics: metrics, logger: environment.logger)
    return (RetentionIntake(live: live, responder: responder, metrics: metrics), messages)
  }
}
