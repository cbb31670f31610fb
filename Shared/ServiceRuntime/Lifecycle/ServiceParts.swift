public import AttributionProtocol
public import ServiceLifecycle

/// The parts of a service, which `ServiceDefinition.parts(_:)` creates and ``ServiceMain`` runs.
public struct ServiceParts: Sendable {
  /// The handlers of its RPCs, except `Diagnose`, which every service has.
  public var handlers: [any RPCHandler] = []
  /// All methods of its RPC services. A method without a handler answers `unimplemented`.
  public var methods: [any RPCMethod.Type] = []
  /// The workers. They stop in reverse order, after the listeners.
  public var workers: [any Service] = []
  /// The checks of `/readyz`, in addition to the one of Redis.
  public var checks: [ReadinessCheck] = []
  /// The external servers that the service calls, for `Diagnose`.
  public var upstreams: [Upstream] = []
  /// True if the service calls signer, for `Diagnose`.
  public var callsSigner = false
  /// Applies a changed configuration after SIGHUP, as far as that is possible without a restart. Throws if the configuration is invalid,
  /// and then changes nothing.
  public var reload: (@Sendable (DeploymentConfiguration) throws(ConfigurationError) -> Void)?
  /// The HTML pages on the internal port; only verifier's console has any.
  public var pages: (any InternalPages)?
  /// The routes of the public port, which only ingest has.
  public var publicResponder: (any PublicResponder)?

  public init() {}
}
