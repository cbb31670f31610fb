import AppStore
import AppleAttribution
import AttributionProtocol
import AttributionQueue
import Console
import Cryptography
import EventPush
import HTTPClient
import Logging
import ServiceRuntime

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ServiceParts {
  /// Builds verifier: the worker of the queue `intake` (``VerificationWorker``), verdicts by RPC (``Verdicts``), the event feed, the pusher
  /// and the console. The roles of the instance (`ATTRIBUTION_VERIFIER_ROLES`) decide which workers run.
  static func verifier(_ environment: ServiceEnvironment) throws -> ServiceParts {
    let (redis, deliveries) = try environment.requiredDeliveries()
    let configuration = environment.configuration
    let postbacks = PostbackVerifier(
      keys: try applePublicKeys(configuration.appleKeys), acceptsDevelopmentSKAdNetwork: configuration.acceptsDevelopmentSKAdNetwork)
    let policy = try revocationPolicy(configuration)
    let signedData = RevocationCheckedVerifier(
      verifier: try configuration.signedDataVerifier(environment.logger),
      checker: RevocationChecker(policy: policy, fetcher: OCSPFetcher(http: environment.httpClient())),
      metrics: environment.metrics)
    let impressions = ImpressionKeys(
      signer: environment.rpcClient(of: .signer, baseURL: environment.variables.signerURL), logger: environment.logger)
    let verdicts = Verdicts(postbacks: postbacks, signedData: signedData, impressions: impressions)

    let subscriptions = SubscriptionStore(redis: redis, silence: configuration.silence.after.milliseconds)
    let lifecycle = SubscriptionLifecycle(
      store: subscriptions, deliveries: deliveries, gapDelay: configuration.gapPatience, logger: environment.logger)
    let oneTime = OneTimePurchaseStore(redis: redis)
    let purchases = OneTimePurchases(store: oneTime)
    let sweep = SilenceSweep(
      lifecycle: lifecycle, interval: configuration.silence.sweep, limit: configuration.silence.batch, metrics: environment.metrics,
      logger: environment.logger)
    let arrivals = VerifiedArrivals(
      journal: IntakeJournal(redis: redis), silenceAfter: configuration.recovery.silenceAfter, logger: environment.logger)
    let verification = VerificationWorker(
      deliveries: deliveries, postbacks: postbacks, signedData: signedData,
      lifecycle: lifecycle, purchases: purchases,
      observations: ObservationWork(signedData: signedData, lifecycle: lifecycle, purchases: purchases, deliveries: deliveries),
      meanings: try PostbackMeanings(configuration), foreignMembers: Set(configuration.postbacks.foreignMembers),
      suffixes: configuration.webAds.postbacks == .mark ? try configuration.webAds.suffixes() : nil, arrivals: arrivals,
      metrics: environment.metrics)
    let counter = DeliveryCounter(redis: redis, logger: environment.logger)
    let worker = ShardWorker(
      queue: .intake, deliveries: deliveries, pace: .computing, counter: counter, batchHandler: verification.batchHandler,
      observe: QueueMetrics.observer(.intake, environment.metrics)
    ) { lease in await verification.handle(lease) }
    let feedMetrics = FeedMetrics(environment.metrics)
    let names = AppNames(configuration.apps.map { ($0.bundleId, $0.appAppleId) })
    let feed = EventFeed(
      deliveries: deliveries, names: names,
      observe: { feedMetrics.observe($0) }, notify: { $0.event })

    let endpoints = EndpointDirectory(feed: feed, settings: configuration.push)
    let counts = DeliveryCounts(redis: redis)
    let roles = environment.variables.verifierRoles

    var parts = ServiceParts()
    parts.methods = VerifierService.methods + EventsService.methods + QueuesService.methods
    parts.handlers = [
      VerifySKAdNetworkPostbackHandler(verdicts: verdicts), VerifyAdAttributionKitPostbackHandler(verdicts: verdicts),
      signedData.asksResponders
        ? VerifyAppStoreSignedDataHandler(verdicts: verdicts) : VerifyAppStoreSignedDataOfflineHandler(verdicts: verdicts),
      VerifySKAdNetworkImpressionHandler(verdicts: verdicts),
      VerifyAdAttributionKitImpressionHandler(verdicts: verdicts), VerifyBatchHandler(verdicts: verdicts),
      ExtractTransactionIdsHandler(maxIds: configuration.receiptTransactionIds),
      DecodeExternalPurchaseTokenHandler(now: { WallClock.now() }),
      GetSubscriptionStateHandler(store: subscriptions, now: WallClock.now), GetOneTimePurchaseStateHandler(store: oneTime),
      GetDeliveryCountsHandler(counts: counts), GetValueCountsHandler(counts: counts),
      ReverifyDeliveriesHandler(deliveries: deliveries),
      CreateSubscriptionHandler(feed: feed, endpoints: endpoints), PullEventsHandler(feed: feed), AcknowledgeEventsHandler(feed: feed),
      GetEventHandler(feed: feed), ListEventsHandler(feed: feed), GetDeliveryStoryHandler(deliveries: deliveries, feed: feed),
      ListSubscriptionsHandler(feed: feed, endpoints: endpoints), DeleteSubscriptionHandler(feed: feed),
      GetSubscriptionHandler(feed: feed, endpoints: endpoints), ModifyLeaseHandler(feed: feed),
      SeekSubscriptionHandler(feed: feed, endpoints: endpoints),
      UpdateEndpointHandler(endpoints: endpoints), EnableEndpointHandler(endpoints: endpoints),
      RotateEndpointSecretHandler(endpoints: endpoints),
    ]
    parts.handlers += QueueHandlers.all(deliveries, metrics: environment.metrics)
    if configuration.console.isEnabled {
      let variables = environment.variables
      parts.pages = try ConsolePages(
        settings: configuration.console, redis: redis,
        services: ConsoleServices(
          signer: environment.rpcClient(of: .signer, baseURL: variables.signerURL),
          recovery: variables.notificationRecoveryURL.map { environment.rpcClient(of: .notificationRecovery, baseURL: $0) },
          apps: configuration.apps.map(\.bundleId)),
        isTLS: variables.tls != nil, pathPrefix: variables.pathPrefix, metrics: environment.metrics)
    }
    parts.callsSigner = true
    if roles.contains(.verify) {
      // Workers are stopped in the reverse order, so that what `worker` counts last is stored too.
      parts.workers = [
        BackgroundWork { await arrivals.run() },
        BackgroundWork { await counter.run() },
        BackgroundWork { await QueueHistory(deliveries: deliveries).run() },
        BackgroundWork(stop: { worker.stop() }, work: { await worker.run() }),
        BackgroundWork { await feed.runTrimming() },
        BackgroundWork { await sweep.run() },
      ]
      parts.checks = [ReadinessCheck(name: "intake-worker") { worker.isStalled ? "stalled" : nil }]
    }
    if roles.contains(.push) {
      var http = HTTPClientConfiguration()
      http.caFile = environment.variables.caFile
      http.connectTimeout = min(.seconds(10), configuration.push.timeout)
      let pusher = Pusher(
        feed: feed, settings: configuration.push, http: http, names: names, metrics: PushMetrics(environment.metrics),
        tracer: environment.tracer,
        logger: environment.logger)
      parts.workers.append(BackgroundWork(stop: { pusher.stop() }, work: { await pusher.run() }))
      parts.checks.append(ReadinessCheck(name: "pusher") { pusher.isStalled ? "stalled" : nil })
    }
    if signedData.asksResponders { parts.workers.append(BackgroundWork { await signedData.refreshPeriodically() }) }
    return parts
  }

  /// Checks the parts of the configuration that only verifier uses. Throws the error with which verifier would not start.
  static func checkVerifier(_ configuration: DeploymentConfiguration) throws(ConfigurationError) {
    _ = try applePublicKeys(configuration.appleKeys)
    _ = try revocationPolicy(configuration)
    _ = try configuration.signedDataVerifier(Logger(label: "check") { _ in SwiftLogNoOpLogHandler() })
    _ = try PostbackMeanings(configuration)
    _ = try configuration.webAds.suffixes()
  }

  private static func revocationPolicy(_ configuration: DeploymentConfiguration) throws(ConfigurationError) -> RevocationPolicy {
    guard let policy = RevocationPolicy(rawValue: configuration.revocation) else {
      throw ConfigurationError("appStore.revocation", "must be off, whenReachable or required")
    }
    return policy
  }

  private static func applePublicKeys(_ configured: DeploymentConfiguration.AppleKeys?) throws(ConfigurationError)
    -> ApplePublicKeys
  {
    guard let configured else { return .published }
    do throws(FieldError) {
      return try ApplePublicKeys(
        p192: configured.p192.isEmpty ? [ApplePublicKeys.publishedP192] : configured.p192,
        p256: configured.p256.isEmpty ? [ApplePublicKeys.publishedP256] : configured.p256,
        kids: configured.kids.isEmpty ? ApplePublicKeys.publishedKids : configured.kids)
    } catch {
      throw ConfigurationError("appleKeys.\(error.field)", error.reason)
    }
  }
}
