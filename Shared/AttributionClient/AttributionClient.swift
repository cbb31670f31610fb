public import AttributionProtocol
public import HTTPClient

/// A client of the five services, with typed methods.
///
/// ```swift
/// let client = AttributionClient(at: [.verifier: "https://verifier.internal:8092"], token: token)
/// let state = try await client.verifier.getSubscriptionState(
///   GetSubscriptionStateRequest(originalTransactionId: "2000000123456789", environment: "Production"))
/// for try await received in client.events.received(from: "billing") {
///   try await book(received.event)
/// }
/// ```
///
/// A call with a temporary error is retried (`RPCRetryRule`): at most four attempts in all, with jitter, within the call's timeout. Over
/// all calls, at most one retry is made for ten calls (`RetryBudget`). All attempts of a call have the same `Idempotency-Key` if the method
/// requires one. `Calls/RPCClient.swift` makes the calls; `Subscriptions/SubscriptionEvents.swift` reads the events of a subscription.
public struct AttributionClient: Sendable {
  public let signer: SignerServiceClient
  public let verifier: VerifierServiceClient
  /// Served by verifier.
  public let events: EventsServiceClient
  public let ingest: IngestServiceClient
  public let recovery: NotificationRecoveryServiceClient
  /// Served by notification-recovery.
  public let retention: RetentionServiceClient
  /// Served by notification-recovery.
  public let advancedCommerce: AdvancedCommerceServiceClient
  /// Served by notification-recovery.
  public let externalPurchases: ExternalPurchaseServiceClient
  public let tokenBroker: TokenBrokerServiceClient
  private let clients: [ServiceName: RPCClient]

  /// - Parameters:
  ///   - addresses: the URLs of the services: scheme, host, port and, if a proxy requires one, a path prefix. A service without a URL is
  ///     called on this machine, at its default port.
  ///   - token: the caller's bearer token; nil if its certificate identifies it.
  ///   - http: the HTTP client. Its configuration has the trust anchors and the client certificate.
  public init(at addresses: [ServiceName: String] = [:], token: String?, http: HTTPClient = HTTPClient()) {
    var clients: [ServiceName: RPCClient] = [:]
    for name in ServiceName.allCases {
      clients[name] = RPCClient(baseURL: addresses[name] ?? Self.defaultAddress(name), token: token, http: http)
    }
    func client(_ name: ServiceName) -> RPCClient {
      clients[name] ?? RPCClient(baseURL: Self.defaultAddress(name), token: token, http: http)
    }
    signer = SignerServiceClient(client(.signer))
    verifier = VerifierServiceClient(client(.verifier))
    events = EventsServiceClient(client(.verifier))
    ingest = IngestServiceClient(client(.ingest))
    recovery = NotificationRecoveryServiceClient(client(.notificationRecovery))
    retention = RetentionServiceClient(client(.notificationRecovery))
    advancedCommerce = AdvancedCommerceServiceClient(client(.notificationRecovery))
    externalPurchases = ExternalPurchaseServiceClient(client(.notificationRecovery))
    tokenBroker = TokenBrokerServiceClient(client(.asaTokenBroker))
    self.clients = clients
  }

  /// The queues of a service; nil for a service without queues.
  public func queues(of service: ServiceName) -> QueuesServiceClient? {
    service.needsQueues ? clients[service].map { QueuesServiceClient($0) } : nil
  }

  /// The methods that diagnose a service and its dependencies.
  public func diagnostics(of service: ServiceName) -> DiagnosticsServiceClient? {
    clients[service].map { DiagnosticsServiceClient($0) }
  }

  private static func defaultAddress(_ name: ServiceName) -> String { "http://127.0.0.1:\(name.defaultPort)" }
}
