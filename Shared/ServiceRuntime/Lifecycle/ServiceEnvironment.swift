public import AttributionClient
public import AttributionProtocol
public import AttributionQueue
public import HTTPClient
public import Logging
public import RedisClient
public import Traces

/// What ``ServiceMain`` has prepared when a service creates its parts (`ServiceDefinition.parts(_:)`): the configuration, the logger,
/// metrics and traces, Redis with the queues, and clients for other servers.
public struct ServiceEnvironment: Sendable {
  public let service: ServiceName
  public let variables: ServiceVariables
  public internal(set) var configuration: DeploymentConfiguration
  public let logger: Logger
  public let metrics: MetricsRegistry
  public let tracer: Tracer
  /// Nil if ATTRIBUTION_REDIS_URL is not set.
  public let redis: RedisClient?
  /// The queues, opened and checked; nil without Redis, and for a service that needs no queues.
  public internal(set) var deliveries: DeliveryQueue?

  /// Redis and the queues, for services that require them. Throws if ATTRIBUTION_REDIS_URL is not set.
  public func requiredDeliveries() throws(ConfigurationError) -> (RedisClient, DeliveryQueue) {
    guard let redis, let deliveries else {
      throw ConfigurationError("ATTRIBUTION_REDIS_URL", "is not set; \(service.rawValue) needs Redis")
    }
    return (redis, deliveries)
  }

  /// A client for external servers that records spans. It trusts the authorities in ATTRIBUTION_CA_FILE if that is set.
  public func httpClient(_ adjust: (inout HTTPClientConfiguration) -> Void = { _ in }) -> HTTPClient {
    var configuration = HTTPClientConfiguration()
    configuration.caFile = variables.caFile
    configuration.observer = TracedRequests()
    adjust(&configuration)
    return HTTPClient(configuration: configuration)
  }

  /// A client for another service of the deployment. It trusts the authorities in ATTRIBUTION_SIGNER_CA_FILE, or else ATTRIBUTION_CA_FILE.
  /// If this service's own port verifies client certificates, the other services do too, so the client presents this service's certificate.
  ///
  /// - Parameter target: the service that is called, which is a label of the metrics about the calls.
  public func rpcClient(of target: ServiceName, baseURL: String) -> RPCClient { rpcClient(of: target, baseURL: baseURL) { $0 } }

  fileprivate func rpcClient(of target: ServiceName, baseURL: String, _ transport: (HTTPClient) -> any HTTPSender) -> RPCClient {
    let http = httpClient { client in
      client.caFile = variables.signerCAFile ?? variables.caFile
      client.observer = nil
      guard variables.tls?.clientCAFile != nil else { return }
      client.certificateFile = variables.tls?.certificateFile
      client.keyFile = variables.tls?.keyFile
    }
    return RPCClient(
      baseURL: baseURL, token: variables.serviceToken, transport: transport(http),
      observer: MeasuredCalls(metrics: CallMetrics(of: target, metrics)))
  }
}

extension ServiceEnvironment {
  /// The same as ``rpcClient(of:baseURL:)``, for thousands of calls a second from event loops: calls without TLS stay on the caller's event
  /// loop (``LoopCalls``).
  public func eventLoopClient(of target: ServiceName, baseURL: String) -> RPCClient {
    rpcClient(of: target, baseURL: baseURL) { http in
      if let calls = LoopCalls(baseURL: baseURL, fallback: http) { return calls }
      return http
    }
  }

  /// A client for a server of the user's that implements a service of the contract, such as a decision service. It must not get this
  /// deployment's tokens. Its calls do not count in the metrics about calls between services.
  ///
  /// - Parameter token: the bearer token that is sent; nil for none.
  public func foreignClient(baseURL: String, token: String?) -> RPCClient {
    RPCClient(baseURL: baseURL, token: token, http: httpClient { $0.observer = nil }, observer: TracedCalls())
  }
}
