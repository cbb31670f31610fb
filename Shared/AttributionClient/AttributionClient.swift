public import AttributionProtocol
public import HTTPClient

/// The five services, each with its methods by their types.
///
/// ```swift
/// let client = AttributionClient(at: [.verifier: "https://verifier.internal:8092"], token: token)
/// for try await delivery in client.events.received(from: "billing") {
///   try await book(delivery.event)
/// }
/// ```
///
/// A call is retried by the convention of the contract: what may pass by itself, at most four times, with jitter, within its time and a
/// budget of a tenth of all calls. Retries of one call carry one `Idempotency-Key` where the method asks for one.
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
  ///   - addresses: where the services are: scheme, host, port and, where a proxy wants one, a path prefix. One that is not named is looked
  ///     for on this machine, at its default port.
  ///   - token: this caller's bearer token; nil where its certificate says who it is.
  ///   - http: what carries the calls. Its configuration has trust anchors and the certificate that this caller shows.
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

  /// The queues that a service works; nil for one that works none.
  public func queues(of service: ServiceName) -> QueuesServiceClient? {
    service.needsQueues ? clients[service].map { QueuesServiceClient($0) } : nil
  }

  /// What a service finds when it looks at itself and at what it depends on.
  public func diagnostics(of service: ServiceName) -> DiagnosticsServiceClient? {
    clients[service].map { DiagnosticsServiceClient($0) }
  }

  private static func defaultAddress(_ name: ServiceName) -> String { "http://127.0.0.1:\(name.defaultPort)" }
}
