import AppleAttribution
import AttributionProtocol
import AttributionQueue
import Cryptography
import HTTPClient
import ServiceRuntime
import WireJSON

extension ServiceParts {
  /// Puts ingest together: the public routes, the worker that sends sessions on, and what internal systems may ask.
  static func ingest(_ environment: ServiceEnvironment) throws -> ServiceParts {
    let (redis, deliveries) = try environment.requiredDeliveries()
    let configuration = try IngestConfiguration(environment.configuration)
    let store = SessionStore(redis: redis, durable: deliveries.durable, payloadSeconds: configuration.payloadSeconds)
    let metrics = IngestMetrics(environment.metrics, apps: environment.configuration.apps.map(\.bundleId))
    let journal = IntakeJournal(redis: redis)
    let heartbeat = Heartbeat(
      journal: journal, instance: RandomBytes.uuid(), settings: environment.configuration.recovery, logger: environment.logger)
    let router = PublicRouter(
      postbacks: PostbackIntake(deliveries: deliveries), notifications: NotificationIntake(deliveries: deliveries),
      tokens: TokenIntake(
        deliveries: deliveries,
        rule: AdServicesRetryRule(
          firstCallDelay: environment.configuration.adServices.firstCallDelay.milliseconds),
        clock: ScaledClock(wall: WallClock.now, factor: environment.variables.timeScale), metrics: metrics,
        takes: { [deployment = environment.configuration] bundleId in deployment.takesTokens(of: bundleId) }),
      sessions: SessionIntake(
        deliveries: deliveries, store: store, routing: configuration.routing,
        maximumWait: configuration.maximumWait,
        metrics: metrics, logger: environment.logger),
      webPayloads: WebPayloadIntake(signer: environment.rpcClient(baseURL: environment.variables.signerURL)),
      takesNotifications: { [apps = environment.configuration.apps] bundleId in apps.contains { $0.bundleId.isExactly(bundleId) } },
      now: WallClock.now)

    let http = environment.httpClient { client in client.connectTo = environment.variables.consentConnectTo }
    let sessions = SessionWorker(
      deliveries: deliveries, store: store, routing: configuration.routing,
      forwarder: SessionForwarder(http: http, timeout: IngestConfiguration.forwardTimeout),
      backoff: { deliveries.configuration.backoff($0) }, patience: configuration.patience, metrics: metrics,
      logger: environment.logger, now: WallClock.now)
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
    parts.workers = [
      BackgroundWork { await counter.run() },
      BackgroundWork(stop: { worker.stop() }, work: { await worker.run() }), BackgroundWork { await heartbeat.run() },
    ]
    parts.checks = [ReadinessCheck(name: "sessions-worker") { worker.isStalled ? "stalled" : nil }]
    parts.callsSigner = true
    parts.publicResponder = router
    return parts
  }
}
