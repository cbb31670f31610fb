import AttributionProtocol
import AttributionQueue
import Cryptography
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import RedisClient
import ServiceLifecycle
import Synchronization
import UnixSignals

#if canImport(Glibc)
  import Glibc
#endif

/// Runs a service, from its start to its end, in this order:
///
/// 1. It reads the environment variables and the configuration file, and reports errors in them.
/// 2. It waits for Redis and signer, if the service needs them (`StartWait.swift`).
/// 3. It lets the service create its handlers and workers (`ServiceDefinition.parts(_:)`), and opens the listeners.
/// 4. It serves until SIGTERM or SIGINT, and then drains (`DrainGate.swift`).
///
/// A request goes from the listener (`ConnectionChannel.swift`) to ``RPCServer`` on the internal port, or to ``PublicServer`` on the public
/// one.
enum ServiceMain {
  /// Runs until SIGTERM or SIGINT. Exits with 78 if the configuration is invalid, with 69 if Redis, signer or the port to listen on cannot
  /// be used, and with 1 after any other error.
  static func run(_ service: ServiceName, build: (ServiceEnvironment) async throws -> ServiceParts) async {
    OpenSSLLibrary.keepUntilTheEnd()
    // Core files are disabled because they could contain private keys. SIGPIPE is ignored because writing to a closed connection must not
    // end the process.
    var noCore = rlimit(rlim_cur: 0, rlim_max: 0)
    setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &noCore)
    signal(SIGPIPE, SIG_IGN)
    do {
      try await start(service, build)
    } catch let error as ConfigurationError {
      fail(service, "\(error)", code: 78)
    } catch let error as QueueError {
      fail(service, "\(error)", code: 69)
    } catch let error as SignerUnavailable {
      fail(service, "\(error)", code: 69)
    } catch is StartWait.Ended {
      return
    } catch let error as IOError where error.errnoCode == EADDRINUSE {
      fail(service, "the port to listen on is used by another process", code: 69)
    } catch {
      fail(service, "\(error)", code: 1)
    }
  }

  private static func fail(_ service: ServiceName, _ reason: String, code: Int32) -> Never {
    StandardError.write("\(service.rawValue): cannot start: \(reason)\n")
    exit(code)
  }

  private static func start(_ service: ServiceName, _ build: (ServiceEnvironment) async throws -> ServiceParts)
    async throws
  {
    let variables = try ServiceVariables(service)
    DescriptorLimit.raise()
    try EventLoopCount.settle(configured: variables.eventLoops)
    guard let level = Logger.Level(rawValue: variables.logLevel) else {
      throw ConfigurationError(
        "ATTRIBUTION_LOG_LEVEL", "must be trace, debug, info, notice, warning, error or critical")
    }
    LoggingSystem.bootstrap { _ in JSONLogHandler(label: service.rawValue, level: level) }
    let logger = Logger(label: service.rawValue)
    var configuration = try DeploymentConfiguration.load(path: variables.configurationPath)
    try configuration.checkGenerations(development: variables.development)
    try configuration.traces.apply { ProcessVariables.value($0) }
    for key in configuration.unknownKeys {
      logger.warning("the configuration has an unknown key", metadata: ["key": "\(key)"])
    }
    let callers = LiveCallers(try CallerDirectory(configuration, variables))
    let metricsAccess = MetricsAccess(configuration.metrics)
    let metrics = MetricsRegistry()
    let traces = configuration.tracing()
    var queue = configuration.queue
    queue.development = variables.development
    let redis = variables.redisURL.map { url in
      var configuration = RedisClient.Configuration()
      configuration.observer = StoreMetrics(metrics)
      configuration.tls = variables.redisTLS
      configuration.passwordFile = variables.redisPasswordFile
      configuration.sentinelUser = variables.sentinelUser
      configuration.sentinelPasswordFile = variables.sentinelPasswordFile
      return RedisClient(url: url, configuration: configuration, logger: logger)
    }
    var environment = ServiceEnvironment(
      service: service, variables: variables, configuration: configuration, logger: logger, metrics: metrics, tracer: traces.tracer,
      redis: redis,
      deliveries: nil)
    let internalTLS = try variables.tls.map { settings throws(ConfigurationError) in
      try LiveTLS(settings, listener: "internal", variable: "ATTRIBUTION_TLS_CERTIFICATE", metrics: metrics, logger: logger)
    }
    let signals = EarlySignals()
    try await waitForDependencies(&environment, queue: queue, tls: internalTLS, metricsAccess: metricsAccess, signals: signals)
    var parts = try await build(environment)
    if let redis {
      if service.needsQueues {
        // The check has a connection of its own, because a connection is closed if a reply is late, and then all commands on it fail.
        let probe = redis.dedicated(commandTimeout: .seconds(1))
        let outage = Mutex(DependencyOutage(tolerance: variables.redisAway))
        parts.checks.append(
          ReadinessCheck(name: "redis") {
            let answered = (try? await probe.send(["PING"])) != nil
            return outage.withLock { $0.isUnavailable(answered: answered, now: .now) } ? "unavailable" : nil
          })
      }
      metrics.collect { metrics.set("attribution_store_connected", redis.isConnected ? 1 : 0) }
    }
    // Services stop in reverse order, so the exporter stops last and also exports the last spans of the others.
    if let exporter = try traces.exporter(environment) {
      parts.workers.insert(BackgroundWork(stop: { exporter.stop() }, work: { await exporter.run() }), at: 0)
    }
    try await serve(parts, environment, callers: callers, internalTLS: internalTLS, metricsAccess: metricsAccess, signals: signals)
  }

  /// Opens the queues and calls signer, if the service needs them, and waits until both succeed.
  private static func waitForDependencies(
    _ environment: inout ServiceEnvironment, queue: QueueConfiguration, tls: LiveTLS?, metricsAccess: MetricsAccess, signals: EarlySignals
  ) async throws {
    let (service, variables, logger, metrics) = (environment.service, environment.variables, environment.logger, environment.metrics)
    let tracer = environment.tracer
    var starting = environment
    // The listener of the wait must end before the service can listen on the same port, so its idle connections are closed soon.
    starting.configuration.limits.headerTime = min(starting.configuration.limits.headerTime, .seconds(1))
    let listenerEnvironment = starting
    let wait = StartWait(timeout: variables.startTimeout, signals: signals, logger: logger) { responder in
      listener(responder, name: .internal, address: variables.listen, tls: tls, listenerEnvironment, isDraining: { true }) {}
    } health: { check in
      Health(service: service.rawValue, rpcServices: [], checks: [check], metrics: metrics, metricsAccess: metricsAccess)
    }
    let deliveries = Mutex<DeliveryQueue?>(nil)
    var dependencies: [StartDependency] = []
    if let redis = environment.redis, service.needsQueues {
      let observeAccept = QueueMetrics.acceptObserver(metrics)
      dependencies.append(
        StartDependency(name: "redis") { error in
          if case QueueError.unavailable = error { true } else { false }
        } attempt: {
          let opened = try await DeliveryQueue.open(
            redis: redis, configuration: queue, tracer: tracer, logger: logger, observeAccept: observeAccept)
          deliveries.withLock { $0 = opened }
        })
    }
    if service.needsSigner {
      let signer = environment.rpcClient(of: .signer, baseURL: variables.signerURL)
      dependencies.append(
        StartDependency(name: "signer") {
          $0 is SignerUnavailable
        } attempt: {
          try await SignerUnavailable.check(signer)
        })
    }
    try await wait.until(dependencies)
    environment.deliveries = deliveries.withLock { $0 }
  }

  /// Serves requests and runs the workers until the process has drained.
  private static func serve(
    _ parts: ServiceParts, _ environment: ServiceEnvironment, callers: LiveCallers, internalTLS: LiveTLS?, metricsAccess: MetricsAccess,
    signals: EarlySignals
  ) async throws {
    let logger = environment.logger
    let limits = environment.configuration.limits
    var endpoints: [String: RPCEndpoint] = [:]
    for method in parts.methods { endpoints[method.path] = RPCEndpoint(unimplemented: method) }
    for handler in parts.handlers + [diagnosis(parts, environment)] {
      let endpoint = RPCEndpoint(handler: handler)
      endpoints["/\(endpoint.service)/\(endpoint.name)"] = endpoint
    }
    let rpcServices = Set(endpoints.values.map(\.service)).sorted()
    let health = Health(
      service: environment.service.rawValue, rpcServices: rpcServices, checks: parts.checks,
      metrics: environment.metrics, metricsAccess: metricsAccess)
    ProcessMetrics.install(environment.metrics)
    let server = RPCServer(
      endpoints: endpoints, callers: callers, limits: limits, pathPrefix: environment.variables.pathPrefix,
      health: health,
      metrics: RPCMetrics(environment.metrics),
      idempotency: environment.redis.map { RPCIdempotencyStore(redis: $0, responseTTL: environment.configuration.queue.rpcAnswerTTL) },
      tracer: environment.tracer, logger: logger, pages: parts.pages)
    let started = StartedListeners(expected: parts.publicResponder == nil ? 1 : 2) { health.setStarted() }
    var services: [any Service] = parts.workers
    let internalResponder: any HTTPResponder = environment.variables.benchmarkEcho ? BenchmarkEcho(inner: server) : server
    var certificates: [LiveTLS] = []
    if let internalTLS { certificates.append(internalTLS) }
    let isDraining = { @Sendable in health.isDraining }
    services.append(
      listener(
        internalResponder, name: .internal, address: environment.variables.listen, tls: internalTLS, environment, isDraining: isDraining
      ) { started.add() })
    if let responder = parts.publicResponder {
      let publicServer = PublicServer(
        responder: responder, limits: limits, edge: environment.configuration.edge, registry: environment.metrics,
        tracer: environment.tracer,
        sampledParents: environment.configuration.traces.publicParents, logger: logger)
      let tls = try environment.variables.publicTLS.map { settings throws(ConfigurationError) in
        try LiveTLS(
          settings, listener: "public", variable: "ATTRIBUTION_PUBLIC_TLS_CERTIFICATE", metrics: environment.metrics, logger: logger)
      }
      if let tls { certificates.append(tls) }
      services.append(
        listener(
          publicServer, name: .public, address: environment.variables.publicListen, tls: tls, environment, isDraining: isDraining
        ) { started.add() })
    }
    let reload = parts.reload
    let listeners = certificates
    if !listeners.isEmpty { services.append(CertificateWatch(listeners: listeners)) }
    services.append(
      ReloadSignal(path: environment.variables.configurationPath, metrics: environment.metrics, logger: logger) {
        for listener in listeners { listener.reload() }
      } apply: {
        configuration throws(ConfigurationError) in
        let directory = try CallerDirectory(configuration, environment.variables)
        try reload?(configuration)
        callers.replace(by: directory)
        metricsAccess.replace(by: configuration.metrics)
      })
    // Services stop in reverse order: first DrainGate, then the listeners, then the workers.
    services.append(DrainGate(health: health, delay: environment.variables.drainDelay, waiting: server.waiting, logger: logger))
    // The group stops the last service first, so EarlySignalWatch delays no other. If a signal came early, its end shuts down the group.
    services.append(EarlySignalWatch(signals: signals))
    logger.info(
      "starting", metadata: ["version": "\(BuildInformation.version)", "commit": "\(BuildInformation.commit)", "limits": "\(limits)"])
    var configuration = ServiceGroupConfiguration(
      services: services.map { .init(service: $0, successTerminationBehavior: .gracefullyShutdownGroup) },
      gracefulShutdownSignals: [.sigterm, .sigint], logger: Logger(label: environment.service.rawValue))
    configuration.maximumGracefulShutdownDuration = .seconds(20) + environment.variables.drainDelay
    try await ServiceGroup(configuration: configuration).run()
    logger.info("ended")
  }

  /// The handler of `Diagnose`, which every service has.
  private static func diagnosis(_ parts: ServiceParts, _ environment: ServiceEnvironment) -> DiagnoseHandler {
    let variables = environment.variables
    var certificates: [CertificateDiagnosis] = []
    if let tls = variables.tls { certificates.append(CertificateDiagnosis(listener: "internal", settings: tls)) }
    if parts.publicResponder != nil, let tls = variables.publicTLS {
      certificates.append(CertificateDiagnosis(listener: "public", settings: tls))
    }
    return DiagnoseHandler(
      service: environment.service, redis: environment.redis, durability: environment.configuration.queue.durability,
      certificates: certificates, upstreams: parts.upstreams,
      signer: parts.callsSigner ? environment.rpcClient(of: .signer, baseURL: variables.signerURL) : nil, startedAt: WallClock.now())
  }

  /// A service that listens on the address and lets the responder answer the requests.
  private static func listener(
    _ responder: any HTTPResponder, name: EdgeSettings.Listener, address: ListenAddress, tls: LiveTLS?, _ environment: ServiceEnvironment,
    isDraining: @escaping @Sendable () -> Bool, onListening: @escaping @Sendable () -> Void
  ) -> any Service {
    let connectionLimit = ConnectionLimit(maxConnections: environment.configuration.limits.connections)
    let checked: any HTTPResponder =
      environment.variables.hosts.map {
        AllowedHostsResponder(allowed: $0, inner: responder, registry: environment.metrics)
      } ?? responder
    let channel = ConnectionChannel(
      responder: checked, limits: environment.configuration.limits, registry: environment.metrics,
      connectionLimit: connectionLimit, tls: tls,
      proxies: environment.configuration.edge.proxies(of: name),
      peers: name == .public ? PeerLimits(environment.configuration.edge) : .none,
      isDraining: isDraining)
    return channel.server(
      configuration: .init(address: .hostname(address.host, port: address.port), availableConnectionsDelegate: connectionLimit),
      onServerRunning: { channel in
        environment.logger.info("listening", metadata: ["address": "\(channel.localAddress.map { "\($0)" } ?? "")"])
        onListening()
      }, eventLoopGroup: MultiThreadedEventLoopGroup.singleton, logger: environment.logger)
  }
}
