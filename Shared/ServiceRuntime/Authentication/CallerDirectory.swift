import Cryptography

/// The callers of the internal port and the methods that each may call (`clients` in the configuration). It has only the digests of the
/// callers' tokens. ``LiveCallers`` has the current directory, and `RPCExchange.admit()` looks callers up in it.
public struct CallerDirectory: Sendable {
  /// An authenticated caller.
  public struct Caller: Sendable, Hashable {
    public let name: String
    let allow: [String]
    /// The rate limit for each single method; nil for no limit.
    var rate: RequestRate?

    /// True if the caller may call the method with that full name, such as `attribution.signer.v1.SignerService/ListSigningKeys`.
    public func may(_ method: String) -> Bool {
      allow.contains { pattern in
        pattern.hasSuffix("*") ? method.hasPrefix(pattern.dropLast()) : method == pattern
      }
    }
  }

  private let entries: [(digest: [UInt8], caller: Caller)]
  private let certificates: [String: Caller]
  /// True if everyone may call every method (`ATTRIBUTION_OPEN=1`). ``ServiceVariables`` then accepts only a loopback address to listen on.
  public let isOpen: Bool

  public init(clients: [DeploymentConfiguration.Client], serviceToken: String?, open: Bool) {
    var entries: [([UInt8], Caller)] = []
    var certificates: [String: Caller] = [:]
    for client in clients {
      let caller = Caller(name: client.name, allow: client.allow, rate: client.rate)
      for digest in client.tokenDigests { entries.append((digest, caller)) }
      for name in client.certificateNames { certificates[name] = caller }
    }
    self.certificates = certificates
    if let serviceToken { entries.append((SHA256Digest.hash(serviceToken), Caller(name: "internal", allow: ["*"]))) }
    self.entries = entries
    isOpen = open
  }

  public var isEmpty: Bool { entries.isEmpty && certificates.isEmpty && !isOpen }

  /// The caller with that `Authorization` header and those certificate names. If both are present, they must belong to the same caller. Nil
  /// if a token or a certificate belongs to no caller, and if both are missing unless ``isOpen``.
  public func caller(authorization: String?, certificateNames: [String] = []) -> Caller? {
    guard !certificateNames.isEmpty else { return caller(authorization: authorization) }
    let named = Set(certificateNames.compactMap { certificates[$0] })
    guard named.count == 1, let caller = named.first else { return nil }
    guard let authorization else { return caller }
    return self.caller(authorization: authorization)?.name == caller.name ? caller : nil
  }

  private func caller(authorization: String?) -> Caller? {
    guard let authorization else { return isOpen ? Caller(name: "open", allow: ["*"]) : nil }
    guard let token = BearerToken.bytes(authorization) else { return nil }
    return ConstantTime.index(of: SHA256Digest.hash(token), in: entries.lazy.map(\.digest)).map { entries[$0].caller }
  }

  /// The caller with that token, and the token's fingerprint, with which ``caller(ofToken:)`` finds the caller as long as the token is
  /// valid. The console stores the fingerprint in its sessions in Redis instead of the token: nobody can compute the token from it, and
  /// callers cannot write sessions.
  public func signIn(token: String) -> (caller: Caller, fingerprint: [UInt8])? {
    guard !token.isEmpty, let caller = caller(authorization: "Bearer " + token) else { return nil }
    return (caller, SHA256Digest.hash(SHA256Digest.hash(token)))
  }

  /// The caller whose token has this fingerprint; nil if the token is no longer valid.
  public func caller(ofToken fingerprint: [UInt8]) -> Caller? {
    ConstantTime.index(of: fingerprint, in: entries.lazy.map { SHA256Digest.hash($0.digest) }).map { entries[$0].caller }
  }
}

extension CallerDirectory {
  /// The callers of a configuration. Throws if there are none and the service is not configured to serve everyone.
  init(_ configuration: DeploymentConfiguration, _ variables: ServiceVariables) throws(ConfigurationError) {
    self.init(clients: configuration.clients, serviceToken: variables.serviceToken, open: variables.open)
    if isEmpty {
      throw ConfigurationError(
        "clients", "is empty, so nobody could call the service; ATTRIBUTION_OPEN=1 serves without credentials, on loopback only")
    }
  }
}
