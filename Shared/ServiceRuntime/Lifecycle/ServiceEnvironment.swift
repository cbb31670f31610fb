public import AttributionClient
public import AttributionProtocol
public import AttributionQueue
public import HTTPClient
public import Logging
public import RedisClient
public import Traces

/// The environment of a service at its start.
public struct ServiceEnvironment: Sendable {
  public let service: ServiceName
  public let variables: ServiceVariables
  public internal(set) var configuration: DeploymentConfiguration
  public let logger: Logger
  public let metrics: MetricsRegistry
  public let tracer: Tracer
  /// Nil if ATTRIBUTION_REDIS_URL is not set.
  public let redis: RedisClient?
  /// The queues, opened and checked; nil without Redis.
  public internal(set) var deliveries: DeliveryQueue?

  /// Redis, for services that require it.
  public func requiredDeliveries() throws(ConfigurationError) -> (RedisClient, DeliveryQueue) {
    guard let redis, let deliveries else {
      throw ConfigurationError("ATTRIBUTION_REDIS_URL", "is not set; \(service.rawValue) needs a Redis")
    }
    return (redis, deliveries)
  }

  /// A client for outgoing HTTPS that trusts ATTRIBUTION_CA_FILE if it is set.
  public func httpClient(_ adjust: (inout HTTPClientConfiguration) -> Void = { _ in }) -> HTTPClient {
    var configuration = HTTPClientConfiguration()
    configuration.caFile = variables.caFile
    configuration.observer = TracedRequests()
    adjust(&configuration)
    return HTTPClient(configuration: configuration)
  }

  /// A client for another service of the deployment that trusts ATTRIBUTION_SIGNER_CA_FILE if it is set. If callers need certificates, it
  /// presents this service's own.
  ///
  /// - Parameter target: the label of the calls in metrics.
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
  /// The same as ``rpcClient(of:baseURL:)`` for many calls per second from event loops. Calls without TLS stay on the caller's event loop.
  public func eventLoopClient(of target: ServiceName, baseURL: String) -> RPCClient {
    rpcClient(of: target, baseURL: baseURL) { http in
      if let calls = LoopCalls(baseURL: baseURL, otherwise: http) { return calls }
      return http
    }
  }

  /// A client for a user's own service, which implements the contract and must not get this deployment's tokens. Its calls are not counted
  /// as calls between services.
  ///
  /// - Parameter token: sent as the bearer token.
  public func foreignClient(baseURL: String, token: String?) -> RPCClient {
    RPCClient(baseURL: baseURL, token: token, http: httpClient { $0.observer = nil }, observer: TracedCalls())
  }
}
