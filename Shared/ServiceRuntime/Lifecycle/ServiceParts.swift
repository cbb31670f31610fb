public import AttributionProtocol
public import ServiceLifecycle

/// The parts of a service.
public struct ServiceParts: Sendable {
  public var handlers: [any RPCHandler] = []
  /// The methods of its RPC services; those without a handler answer `unimplemented`.
  public var methods: [any RPCMethod.Type] = []
  public var workers: [any Service] = []
  public var checks: [ReadinessCheck] = []
  /// External servers that it calls, for `Diagnose`.
  public var upstreams: [Upstream] = []
  /// True if it calls signer, for `Diagnose`.
  public var callsSigner = false
  /// Applies a changed configuration (SIGHUP) as far as that is possible at run time. Throws if the configuration is invalid; nothing
  /// changes then.
  public var reload: (@Sendable (DeploymentConfiguration) throws(ConfigurationError) -> Void)?
  /// Pages on the internal port.
  public var pages: (any InternalPages)?
  /// Ingest's public routes.
  public var publicResponder: (any PublicResponder)?

  public init() {}
}
