import AppleAttribution
import AttributionProtocol
import AttributionQueue
import HTTPClient
import ServiceRuntime

extension ServiceParts {
  /// How long an exchange can be read after its last change, seconds: 48 hours.
  private static let exchangeSeconds = 48 * 3600
  /// Connections to Apple at the most.
  private static let appleConnections = 64

  /// Puts the broker together: the worker that asks Apple, and the calls of internal systems.
  static func tokenBroker(_ environment: ServiceEnvironment) throws -> ServiceParts {
    let (redis, deliveries) = try environment.requiredDeliveries()
    let store = ExchangeStore(redis: redis, exchangeSeconds: exchangeSeconds)
    let rule = AdServicesRetryRule()
    let clock = ScaledClock(wall: WallClock.now, factor: environment.variables.timeScale)
    let http = environment.httpClient { client in client.maxConnectionsPerHost = appleConnections }
    let tokens = TokenWorker(
      store: store, apple: AdServicesClient(http: http, url: environment.variables.adServicesURL, now: WallClock.now),
      rule: rule,
      clock: clock,
      metrics: BrokerMetrics(environment.metrics), logger: environment.logger)
    let worker = QueueWorker(
      queue: .tokens, deliveries: deliveries, concurrency: appleConnections,
      observe: QueueMetrics.observer(.tokens, environment.metrics)
    ) { lease in await tokens.handle(lease) }
    let reader = ExchangeReader(deliveries: deliveries, store: store)

    var parts = ServiceParts()
    parts.methods = TokenBrokerService.methods + QueuesService.methods
    parts.handlers = [
      ExchangeTokenHandler(deliveries: deliveries, reader: reader, rule: rule, now: WallClock.now),
      GetExchangeHandler(reader: reader),
    ]
    parts.handlers += QueueHandlers.all(deliveries, metrics: environment.metrics)
    parts.workers = [BackgroundWork(stop: { worker.stop() }, work: { await worker.run() })]
    parts.checks = [ReadinessCheck(name: "tokens-worker") { worker.isStalled ? "stalled" : nil }]
    return parts
  }
}
