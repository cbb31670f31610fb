import AppleAttribution
import AttributionProtocol
import AttributionQueue
import Cryptography
import HTTPClient
import ServiceRuntime
import UpstreamPacing

extension ServiceParts {
  /// Builds asa-token-broker: the worker that calls Apple about tokens (``TokenWorker``), the gate that limits these calls
  /// (``AppleCallGate``), and the handlers of the RPCs. Tokens come from ingest or `ExchangeToken`, through the queue `tokens`.
  static func tokenBroker(_ environment: ServiceEnvironment) throws -> ServiceParts {
    let (redis, deliveries) = try environment.requiredDeliveries()
    let deployment = environment.configuration
    let configuration = try BrokerConfiguration(deployment)
    let settings = configuration.settings
    let store = ExchangeStore(redis: redis, lifetime: settings.resultLifetime)
    let clock = ScaledClock(wall: WallClock.now, factor: environment.variables.timeScale)
    let http = environment.httpClient { client in
      client.maxConnectionsPerHost = settings.connections
      client.connectTimeout = settings.connectTimeout
    }
    let metrics = BrokerMetrics(environment.metrics, apps: deployment.apps.map(\.bundleId))
    // The limits refuse calls while Redis is unavailable, which costs nothing: the tokens are in Redis too.
    let concurrency = SharedConcurrency(
      redis: redis, key: Keys.own("asa-token-broker", "concurrency", shardOf: "adservices"), instance: RandomBytes.uuid(),
      total: settings.sharedConcurrency, maxShare: settings.concurrency, onOutage: .refuses)
    let gate = AppleCallGate(
      breaker: SharedCircuitBreaker(
        redis: redis, key: Keys.own("asa-token-broker", "breaker", shardOf: "adservices"), rule: configuration.breakerRule),
      rate: SharedRateLimit(
        redis: redis, key: Keys.own("asa-token-broker", "rate", shardOf: "adservices"), rule: configuration.rateRule,
        onOutage: .refuses),
      concurrency: concurrency)
    let consent = ConsentCheck(statuses: InstallStatusReader(redis: redis))
    let tokens = TokenWorker(
      deliveries: deliveries, store: store, consent: consent, installs: InstallStore(redis: redis, lifetime: settings.installLifetime),
      apple: AdServicesClient(http: http, url: environment.variables.adServicesURL, timeout: configuration.timeout, now: WallClock.now),
      gate: gate, rule: configuration.retryRule, maxRetryAfter: settings.maxRetryAfter, names: configuration.names,
      filter: configuration.filter, clock: clock, metrics: metrics,
      logger: environment.logger)
    let counter = DeliveryCounter(redis: redis, logger: environment.logger)
    let worker = DeadlineWorker(
      queue: .tokens, deliveries: deliveries, concurrency: settings.concurrency, gate: gate, counter: counter,
      observe: QueueMetrics.observer(.tokens, environment.metrics)
    ) { lease in await tokens.handle(lease) }
    metrics.observe {
      let backlog = worker.backlog
      return (
        worker.inFlight, backlog.waiting, backlog.nearestDeadline.map { Double($0 - WallClock.now()) / 1000 },
        gate.phase == .closed ? 0 : gate.phase == .halfOpen ? 1 : 2
      )
    }
    let reader = ExchangeReader(deliveries: deliveries, store: store, consent: consent)

    var parts = ServiceParts()
    parts.methods = TokenBrokerService.methods + QueuesService.methods
    parts.handlers = [
      ExchangeTokenHandler(
        deliveries: deliveries, reader: reader, rule: configuration.retryRule, clock: clock, filter: configuration.filter,
        acceptsTokens: { bundleId in deployment.acceptsTokens(of: bundleId) }),
      GetExchangeHandler(reader: reader, filter: configuration.filter),
    ]
    parts.handlers += QueueHandlers.all(deliveries, metrics: environment.metrics)
    parts.upstreams = [Upstream(name: "AdServices", url: environment.variables.adServicesURL, http: environment.httpClient())]
    // Services end in reverse order, so that the permits are returned after the last call, and the last counts are written.
    parts.workers = [
      BackgroundWork { await counter.run() }, BackgroundWork { await concurrency.run() },
      BackgroundWork { await tokens.releaseWaitingRetries() },
      BackgroundWork(stop: { worker.stop() }, work: { await worker.run() }),
    ]
    parts.checks = [ReadinessCheck(name: "tokens-worker") { worker.isStalled ? "stalled" : nil }]
    return parts
  }
}
