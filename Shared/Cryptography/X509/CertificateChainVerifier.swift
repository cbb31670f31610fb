import COpenSSL
import Synchronization

/// Why a chain is rejected.
public enum ChainError: Error, Sendable, Hashable {
  /// Not exactly three certificates.
  case length(Int)
  /// The entry at that index is not a certificate in Base64 DER.
  case malformedCertificate(index: Int)
  /// The path is invalid, with the reason.
  case invalid(String)
}

/// Verifies the certificates of a JWS header (App Store Server API: x5c). They must be the path leaf → intermediate → pinned root, valid by
/// RFC 5280, and leaf and intermediate must have Apple's two markers.
///
/// Three things are cached, and used only while their certificates are valid: whole paths; intermediates that a root has signed, because
/// verifying a P-384 signature is most of a path's cost; and the paths of whole headers (``KnownHeader``). Failures are not cached.
public final class CertificateChainVerifier: @unchecked Sendable {  // the store is not changed after set-up; the rest is behind locks
  /// The extension that marks certificates that sign for the App Store.
  public static let leafMarker = "1.2.840.113635.100.6.11.1"
  /// The extension that marks Apple's intermediate authority.
  public static let intermediateMarker = "1.2.840.113635.100.6.2.1"

  /// The number of cached headers. Apple uses few leaves at a time.
  private static let headerCapacity = 16

  private struct Cache: Sendable {
    var paths: LeastRecentlyUsedCache<[UInt8], VerifiedChain>
    var authorities: LeastRecentlyUsedCache<[UInt8], CertificateAuthority>
    /// Headers whose leaf's key verified a signature, with their paths.
    var headers: KnownHeaders
  }

  /// Locked while a path is built, so that other callers that need the same path wait and then find it cached.
  private final class PathLock: Sendable { let lock = Mutex(()) }

  /// A pinned root, and its key unless it is of a kind that ``Curve`` does not have.
  private struct Root: Sendable {
    let certificate: Certificate
    let key: ChainKey?

    init(_ certificate: Certificate) {
      self.certificate = certificate
      key = (try? certificate.publicKey()).map { ChainKey($0) }
    }
  }

  private let store: OpaquePointer
  private let roots: [Root]
  private let strict: Bool
  private let cache: Mutex<Cache>
  private let pathLocks: [PathLock]

  /// A root that is not correctly self-signed is ignored, so no chain leads to it.
  ///
  /// - Parameter strict: requires consistent key identifiers (`X509_V_FLAG_X509_STRICT`). False only for test chains without them.
  /// - Parameter cacheCapacity: the greatest number of cached paths.
  /// - Parameter authorityCapacity: the greatest number of cached intermediates.
  public init(
    roots: [Certificate], strict: Bool = true, cacheCapacity: Int = 256, authorityCapacity: Int = 32
  ) {
    // Checked once here and not for every path: a root's own signature only shows that its file is intact.
    self.roots = roots.filter { $0.isSelfSigned }.map { Root($0) }
    self.strict = strict
    cache = Mutex(
      Cache(
        paths: LeastRecentlyUsedCache(capacity: cacheCapacity), authorities: LeastRecentlyUsedCache(capacity: authorityCapacity),
        headers: KnownHeaders(capacity: min(cacheCapacity, Self.headerCapacity))))
    pathLocks = (0..<16).map { _ in PathLock() }
    // Returns nil only if there is no memory.
    store = X509_STORE_new()!
    for root in self.roots { X509_STORE_add_cert(store, root.certificate.raw) }
  }

  deinit { X509_STORE_free(store) }

  /// The number of cached paths.
  public var cachedPaths: Int { cache.withLock { $0.paths.count } }

  /// The number of cached intermediates.
  public var cachedAuthorities: Int { cache.withLock { $0.authorities.count } }

  /// Verifies an `x5c` of Base64 DER certificates, leaf first, at a time in seconds since 1970. Returns the leaf's key.
  public func verify(x5c: [String], at time: Int64) throws(ChainError) -> PublicKey {
    try verifiedChain(x5c: x5c, at: time).key
  }

  /// Like ``verify(x5c:at:)``, but also returns the certificates, so that their revocation can be checked.
  public func verifiedChain(x5c: [String], at time: Int64) throws(ChainError) -> VerifiedChain {
    let certificates = try Self.entries(of: x5c)
    let key = Self.cacheKey(of: certificates)
    if let path = cached(key, at: time) { return path }
    let pathLock = pathLocks[Int(key[0]) % pathLocks.count]
    let built: Result<VerifiedChain, ChainError> = pathLock.lock.withLock { _ in
      if let path = cached(key, at: time) { return .success(path) }
      do throws(ChainError) {
        let path = try build(leaf: certificates[0], intermediate: certificates[1], at: time)
        guard path.isValid(at: time) else { throw .invalid("a certificate is not valid at this time") }
        cache.withLock { $0.paths.keep(path, for: key) }
        return .success(path)
      } catch {
        return .failure(error)
      }
    }
    return try built.get()
  }

  /// The cached entry of an identical header; nil if there is none, or if its path is not valid at `time`, in seconds since 1970.
  public func known(_ header: EncodedHeader, at time: Int64) -> KnownHeader? {
    guard let known = cache.withLock({ $0.headers.use(header) }), known.chain.isValid(at: time) else { return nil }
    return known
  }

  /// Caches the path of a header. Call it only after the leaf's key verified a signature, so that only Apple's headers are cached.
  public func remember(_ chain: VerifiedChain, of header: EncodedHeader) {
    let known = KnownHeader(header, chain)
    cache.withLock { $0.headers.keep(known) }
  }

  /// Throws unless an `x5c` has three entries whose first two are certificates. Checks no signature and no date.
  public static func requireCertificates(x5c: [String]) throws(ChainError) {
    for (index, der) in try entries(of: x5c).enumerated() where (try? Certificate(der: der)) == nil {
      throw .malformedCertificate(index: index)
    }
  }

  /// The leaf and the intermediate in DER. Throws unless the `x5c` has three entries.
  private static func entries(of x5c: [String]) throws(ChainError) -> [[UInt8]] {
    guard x5c.count == 3 else { throw .length(x5c.count) }
    // The third entry is not parsed, because the root is pinned. It is not part of the cache key either. Otherwise anybody could vary it so
    // that the same path is built again and others are evicted.
    var certificates: [[UInt8]] = []
    for index in 0..<2 {
      guard let der = Base64.decode(x5c[index]) else { throw .malformedCertificate(index: index) }
      certificates.append(der)
    }
    return certificates
  }

  // MARK: Path

  private func build(leaf der: [UInt8], intermediate: [UInt8], at time: Int64) throws(ChainError) -> VerifiedChain {
    let leaf: Certificate
    do throws(Certificate.Failure) { leaf = try Certificate(der: der) } catch { throw .malformedCertificate(index: 0) }
    let digest = SHA256Digest.hash(intermediate)
    if let authority = cache.withLock({ $0.authorities.use(digest) }), authority.isValid(at: time) {
      let key = try Self.signingKey(of: leaf)
      try verifyLeaf(leaf, under: authority)
      return VerifiedChain(key: key, leaf: leaf, authority: authority)
    }
    let middle: Certificate
    do throws(Certificate.Failure) { middle = try Certificate(der: intermediate) } catch {
      throw .malformedCertificate(index: 1)
    }
    let key = try Self.signingKey(of: leaf)
    guard middle.hasExtension(Self.intermediateMarker) else { throw .invalid("the intermediate lacks Apple's marker") }
    // OpenSSL compares all names with all constraints before any signature is checked. A forged list of constraints must not cause that
    // cost, so the intermediate's signature is checked first.
    if X509_get_ext_by_NID(middle.raw, NID_name_constraints, -1) >= 0 {
      let isIssued = roots.contains { (try? Self.checkSignature(of: middle, by: $0.certificate, with: $0.key)) != nil }
      guard isIssued else { throw .invalid("no pinned root has issued the intermediate") }
    }
    let authorityKey = (try? middle.publicKey()).map { ChainKey($0) }
    let root = try root(of: leaf, through: middle, with: authorityKey)
    let authority = CertificateAuthority(intermediate: middle, key: authorityKey, root: root, digest: digest)
    // OpenSSL checks a root's name constraints only for the whole path, so an intermediate of such a root is not cached.
    if X509_get_ext_by_NID(root.raw, NID_name_constraints, -1) < 0 {
      cache.withLock { $0.authorities.keep(authority, for: digest) }
    }
    return VerifiedChain(key: key, leaf: leaf, authority: authority)
  }

  /// The leaf's key. Throws if the leaf may not sign the App Store's data.
  private static func signingKey(of leaf: Certificate) throws(ChainError) -> PublicKey {
    guard leaf.hasExtension(leafMarker) else { throw .invalid("the leaf lacks Apple's marker") }
    let key: PublicKey
    do throws(KeyError) { key = try leaf.publicKey() } catch { throw .invalid("the leaf's key cannot be read") }
    guard key.curve == .p256 else { throw .invalid("the leaf's key is not P-256") }
    // A leaf must not be able to sign certificates.
    guard X509_get_extension_flags(leaf.raw) & UInt32(EXFLAG_CA) == 0 else {
      throw .invalid("the leaf is a certificate authority")
    }
    if X509_get_extension_flags(leaf.raw) & UInt32(EXFLAG_KUSAGE) != 0 {
      guard X509_get_key_usage(leaf.raw) & UInt32(KU_DIGITAL_SIGNATURE) != 0 else {
        throw .invalid("the leaf may not sign data")
      }
    }
    return key
  }

  /// Verifies the whole path, and returns its pinned root.
  private func root(of leaf: Certificate, through intermediate: Certificate, with key: ChainKey?) throws(ChainError)
    -> Certificate
  {
    try Self.withStack(of: intermediate) { untrusted throws(ChainError) in
      try withPath(from: leaf, untrusted: untrusted, trusted: nil, depth: 1) { path throws(ChainError) in
        guard OPENSSL_sk_num(path) == 3, let top = OPENSSL_sk_value(path, 2), let middle = OPENSSL_sk_value(path, 1),
          X509_cmp(OpaquePointer(middle), intermediate.raw) == 0,
          let root = roots.first(where: { X509_cmp($0.certificate.raw, OpaquePointer(top)) == 0 })
        else { throw .invalid("the path is not leaf, intermediate, pinned root") }
        try Self.checkSignature(of: intermediate, by: root.certificate, with: root.key)
        try Self.checkSignature(of: leaf, by: intermediate, with: key)
        return root.certificate
      }
    }
  }

  /// Verifies the leaf under an intermediate that was verified before.
  private func verifyLeaf(_ leaf: Certificate, under authority: CertificateAuthority) throws(ChainError) {
    try Self.withStack(of: authority.intermediate) { trusted throws(ChainError) in
      try withPath(from: leaf, untrusted: nil, trusted: trusted, depth: 0) { path throws(ChainError) in
        guard OPENSSL_sk_num(path) == 2, let top = OPENSSL_sk_value(path, 1),
          X509_cmp(OpaquePointer(top), authority.intermediate.raw) == 0
        else { throw .invalid("the path is not leaf, cached intermediate") }
        try Self.checkSignature(of: leaf, by: authority.intermediate, with: authority.key)
      }
    }
  }

  /// Makes the checks that `withPath` omits: the issuer may sign certificates and is the named one, and its key made the signature.
  private static func checkSignature(of subject: Certificate, by issuer: Certificate, with key: ChainKey?) throws(ChainError) {
    let issued = X509_check_issued(issuer.raw, subject.raw)
    guard issued == X509_V_OK else { throw .invalid(reason(Int(issued))) }
    guard key?.signed(subject) ?? subject.isSigned(by: X509_get0_pubkey(issuer.raw)) else {
      throw .invalid(reason(Int(X509_V_ERR_CERT_SIGNATURE_FAILURE)))
    }
  }

  private static func reason(_ code: Int) -> String { X509_verify_cert_error_string(code).map { String(cString: $0) } ?? "no path" }

  /// Lets OpenSSL build a path and check everything but times and signatures. `body` must check the signatures. They are most of the cost,
  /// and OpenSSL would not use the precomputed tables of ``ChainKey``.
  private func withPath<Value>(
    from leaf: Certificate, untrusted: OpaquePointer?, trusted: OpaquePointer?, depth: Int32,
    _ body: (OpaquePointer?) throws(ChainError) -> Value
  ) throws(ChainError) -> Value {
    guard let context = X509_STORE_CTX_new() else { throw .invalid("out of memory") }
    defer { X509_STORE_CTX_free(context) }
    guard X509_STORE_CTX_init(context, store, leaf.raw, untrusted) == 1 else {
      throw .invalid(OpenSSLErrors.drain("no verification context"))
    }
    var flags = strict ? UInt(X509_V_FLAG_X509_STRICT) : 0
    if let trusted {
      // The stack replaces the store, so the path must end in the verified intermediate.
      X509_STORE_CTX_set0_trusted_stack(context, trusted)
      flags |= UInt(X509_V_FLAG_PARTIAL_CHAIN)
    }
    // `VerifiedChain` checks the times of new and cached paths. OpenSSL excludes a certificate's last second; RFC 5280 (section 4.1.2.5)
    // includes it.
    flags |= UInt(X509_V_FLAG_NO_CHECK_TIME)
    let parameters = X509_STORE_CTX_get0_param(context)
    X509_VERIFY_PARAM_set_flags(parameters, flags)
    X509_VERIFY_PARAM_set_depth(parameters, depth)
    // Replaces OpenSSL's check of the signatures.
    X509_STORE_CTX_set_verify(context) { _ in 1 }
    guard X509_verify_cert(context) == 1 else {
      let reason = Self.reason(Int(X509_STORE_CTX_get_error(context)))
      ERR_clear_error()
      throw .invalid(reason)
    }
    return try body(X509_STORE_CTX_get0_chain(context))
  }

  private static func withStack<Value>(
    of certificate: Certificate, _ body: (OpaquePointer) throws(ChainError) -> Value
  ) throws(ChainError) -> Value {
    guard let stack = OPENSSL_sk_new_null() else { throw .invalid("out of memory") }
    // Frees only the stack. The certificate outlives the call.
    defer { OPENSSL_sk_free(stack) }
    guard OPENSSL_sk_push(stack, UnsafeRawPointer(certificate.raw)) > 0 else { throw .invalid("out of memory") }
    return try withExtendedLifetime(certificate) { () throws(ChainError) in try body(stack) }
  }

  // MARK: Cache

  /// The key of the cache: SHA-256 of the certificates, each after its length, so that no two chains have the same key.
  private static func cacheKey(of chain: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(chain.reduce(8) { $0 + $1.count })
    for der in chain {
      let count = UInt32(der.count)
      bytes += (0..<4).map { UInt8(truncatingIfNeeded: count >> UInt32(24 - 8 * $0)) }
      bytes += der
    }
    return SHA256Digest.hash(bytes)
  }

  private func cached(_ key: [UInt8], at time: Int64) -> VerifiedChain? {
    cache.withLock { cache in
      guard let path = cache.paths.peek(key), path.isValid(at: time) else { return nil }
      return cache.paths.use(key)
    }
  }
}
