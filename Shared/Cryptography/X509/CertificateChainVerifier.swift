import COpenSSL
import Synchronization

/// Why a chain is rejected.
public enum ChainError: Error, Sendable, Hashable {
  /// Not exactly three certificates.
  case length(Int)
  /// The entry at that index is not a certificate.
  case malformedCertificate(index: Int)
  /// The path is invalid, with the reason.
  case invalid(String)
}

/// Builds the path leaf → intermediate → pinned root, of exactly that length, by RFC 5280 and Apple's two markers
/// (App Store Server API: x5c).
///
/// Two things are cached, with limits and only while their certificates are valid: whole paths, and intermediates that a root has signed,
/// because a P-384 signature is most of a path's cost. Failures are not cached.
public final class CertificateChainVerifier: @unchecked Sendable {  // the store is not changed after set-up; the rest is behind locks
  /// Marks certificates that sign for the App Store.
  public static let leafMarker = "1.2.840.113635.100.6.11.1"
  /// Marks Apple's intermediate authority.
  public static let intermediateMarker = "1.2.840.113635.100.6.2.1"

  /// The number of cached headers. Apple uses few leaves at a time.
  private static let rememberedHeaders = 16

  private struct Cache: Sendable {
    var paths: LeastRecentlyUsedCache<[UInt8], VerifiedChain>
    var authorities: LeastRecentlyUsedCache<[UInt8], CertificateAuthority>
    /// The path of each header whose leaf's key verified a signature.
    var headers: KnownHeaders
  }

  /// Locked while a path is built. Other callers that need the same path wait, for a millisecond or two, and then find it cached.
  private final class PathLock: Sendable { let lock = Mutex(()) }

  /// A pinned root, with its key if tables can be made for it.
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

  /// `strict` requires consistent key identifiers: true for real chains, false only for chains without them. `cacheCapacity` limits the
  /// cached paths, `authorityCapacity` the cached intermediates. A root that is not correctly self-signed is ignored, so no chain leads to
  /// it.
  public init(
    roots: [Certificate], strict: Bool = true, cacheCapacity: Int = 256, authorityCapacity: Int = 32
  ) {
    // Checked once here and not in every path. This signature only shows that the file is intact.
    self.roots = roots.filter { $0.isSelfSigned }.map { Root($0) }
    self.strict = strict
    cache = Mutex(
      Cache(
        paths: LeastRecentlyUsedCache(capacity: cacheCapacity), authorities: LeastRecentlyUsedCache(capacity: authorityCapacity),
        headers: KnownHeaders(capacity: min(cacheCapacity, Self.rememberedHeaders))))
    pathLocks = (0..<16).map { _ in PathLock() }
    // Fails only without memory.
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

  /// Like `verify(x5c:at:)`, but returns the certificates too, for checking their revocation.
  public func verifiedChain(x5c: [String], at time: Int64) throws(ChainError) -> VerifiedChain {
    let certificates = try Self.entries(of: x5c)
    let name = Self.name(of: certificates)
    if let path = cached(name, at: time) { return path }
    let pathLock = pathLocks[Int(name[0]) % pathLocks.count]
    let built: Result<VerifiedChain, ChainError> = pathLock.lock.withLock { _ in
      if let path = cached(name, at: time) { return .success(path) }
      do throws(ChainError) {
        let path = try build(leaf: certificates[0], intermediate: certificates[1], at: time)
        guard path.holds(at: time) else { throw .invalid("a certificate is not valid at this time") }
        cache.withLock { $0.paths.keep(path, for: name) }
        return .success(path)
      } catch {
        return .failure(error)
      }
    }
    return try built.get()
  }

  /// The cached entry of an identical header; nil if there is none whose path is valid at that time, in seconds since 1970.
  public func known(_ header: EncodedHeader, at time: Int64) -> KnownHeader? {
    guard let known = cache.withLock({ $0.headers.use(header) }), known.chain.holds(at: time) else { return nil }
    return known
  }

  /// Caches the path of a header. The leaf's key must have verified a signature, so that only Apple decides what is cached.
  public func remember(_ chain: VerifiedChain, of header: EncodedHeader) {
    let known = KnownHeader(header, chain)
    cache.withLock { $0.headers.keep(known) }
  }

  /// Throws unless an `x5c` has three entries whose first two are certificates. This is checked before any date.
  public static func read(x5c: [String]) throws(ChainError) {
    for (index, der) in try entries(of: x5c).enumerated() where (try? Certificate(der: der)) == nil {
      throw .malformedCertificate(index: index)
    }
  }

  /// The leaf and intermediate of an `x5c` of three, in DER.
  private static func entries(of x5c: [String]) throws(ChainError) -> [[UInt8]] {
    guard x5c.count == 3 else { throw .length(x5c.count) }
    // The third entry is not parsed, because the root is pinned. Nor is it part of the cache key; otherwise anybody could vary it to have
    // paths built again and evict others.
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
    if let authority = cache.withLock({ $0.authorities.use(digest) }), authority.holds(at: time) {
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
    // cost, so the issuer is checked first.
    if X509_get_ext_by_NID(middle.raw, NID_name_constraints, -1) >= 0 {
      let isIssued = roots.contains { (try? Self.checkSignature(of: middle, by: $0.certificate, with: $0.key)) != nil }
      guard isIssued else { throw .invalid("the intermediate is of no pinned root") }
    }
    let authorityKey = (try? middle.publicKey()).map { ChainKey($0) }
    let root = try root(of: leaf, through: middle, with: authorityKey)
    let authority = CertificateAuthority(intermediate: middle, key: authorityKey, root: root, digest: digest)
    // A root's name constraints are only checked over the whole path, so such a path's intermediate is not cached.
    if X509_get_ext_by_NID(root.raw, NID_name_constraints, -1) < 0 {
      cache.withLock { $0.authorities.keep(authority, for: digest) }
    }
    return VerifiedChain(key: key, leaf: leaf, authority: authority)
  }

  /// The leaf's key, if the leaf may sign the App Store's data.
  private static func signingKey(of leaf: Certificate) throws(ChainError) -> PublicKey {
    guard leaf.hasExtension(leafMarker) else { throw .invalid("the leaf lacks Apple's marker") }
    let key: PublicKey
    do throws(KeyError) { key = try leaf.publicKey() } catch { throw .invalid("the leaf's key cannot be read") }
    guard key.curve == .p256 else { throw .invalid("the leaf's key is not P-256") }
    // A leaf must not be able to sign certificates.
    guard X509_get_extension_flags(leaf.raw) & UInt32(EXFLAG_CA) == 0 else {
      throw .invalid("the leaf is an authority")
    }
    if X509_get_extension_flags(leaf.raw) & UInt32(EXFLAG_KUSAGE) != 0 {
      guard X509_get_key_usage(leaf.raw) & UInt32(KU_DIGITAL_SIGNATURE) != 0 else {
        throw .invalid("the leaf may not sign data")
      }
    }
    return key
  }

  /// Verifies the whole path. Returns its pinned root.
  private func root(of leaf: Certificate, through intermediate: Certificate, with key: ChainKey?) throws(ChainError)
    -> Certificate
  {
    try Self.withStack(of: intermediate) { untrusted throws(ChainError) in
      try verifying(leaf, untrusted: untrusted, trusted: nil, depth: 1) { path throws(ChainError) in
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
      try verifying(leaf, untrusted: nil, trusted: trusted, depth: 0) { path throws(ChainError) in
        guard OPENSSL_sk_num(path) == 2, let top = OPENSSL_sk_value(path, 1),
          X509_cmp(OpaquePointer(top), authority.intermediate.raw) == 0
        else { throw .invalid("the path is not leaf, intermediate") }
        try Self.checkSignature(of: leaf, by: authority.intermediate, with: authority.key)
      }
    }
  }

  /// The checks that `verifying` omits: that the issuer may sign certificates and is the named one, and that its key made the signature.
  private static func checkSignature(of subject: Certificate, by issuer: Certificate, with key: ChainKey?) throws(ChainError) {
    let issued = X509_check_issued(issuer.raw, subject.raw)
    guard issued == X509_V_OK else { throw .invalid(reason(Int(issued))) }
    guard key?.signed(subject) ?? subject.isSigned(by: X509_get0_pubkey(issuer.raw)) else {
      throw .invalid(reason(Int(X509_V_ERR_CERT_SIGNATURE_FAILURE)))
    }
  }

  private static func reason(_ code: Int) -> String { X509_verify_cert_error_string(code).map { String(cString: $0) } ?? "no path" }

  /// Lets OpenSSL build a path and check everything but its signatures, which `read` must check: they are most of the cost, and the few
  /// keys involved have precomputed tables.
  private func verifying<Value>(
    _ leaf: Certificate, untrusted: OpaquePointer?, trusted: OpaquePointer?, depth: Int32,
    _ read: (OpaquePointer?) throws(ChainError) -> Value
  ) throws(ChainError) -> Value {
    guard let context = X509_STORE_CTX_new() else { throw .invalid("no memory") }
    defer { X509_STORE_CTX_free(context) }
    guard X509_STORE_CTX_init(context, store, leaf.raw, untrusted) == 1 else {
      throw .invalid(OpenSSLErrors.drain("no context"))
    }
    var flags = strict ? UInt(X509_V_FLAG_X509_STRICT) : 0
    if let trusted {
      // Replaces the store: the path must end in the verified intermediate.
      X509_STORE_CTX_set0_trusted_stack(context, trusted)
      flags |= UInt(X509_V_FLAG_PARTIAL_CHAIN)
    }
    // Times are checked by `VerifiedChain`, for new and cached paths alike. OpenSSL excludes a certificate's last second, RFC 5280 (section
    // 4.1.2.5) includes it.
    flags |= UInt(X509_V_FLAG_NO_CHECK_TIME)
    let parameters = X509_STORE_CTX_get0_param(context)
    X509_VERIFY_PARAM_set_flags(parameters, flags)
    X509_VERIFY_PARAM_set_depth(parameters, depth)
    X509_STORE_CTX_set_verify(context) { _ in 1 }
    guard X509_verify_cert(context) == 1 else {
      let reason = Self.reason(Int(X509_STORE_CTX_get_error(context)))
      ERR_clear_error()
      throw .invalid(reason)
    }
    return try read(X509_STORE_CTX_get0_chain(context))
  }

  private static func withStack<Value>(
    of certificate: Certificate, _ body: (OpaquePointer) throws(ChainError) -> Value
  ) throws(ChainError) -> Value {
    guard let stack = OPENSSL_sk_new_null() else { throw .invalid("no memory") }
    // The stack does not own the certificate, which outlives the call.
    defer { OPENSSL_sk_free(stack) }
    guard OPENSSL_sk_push(stack, UnsafeRawPointer(certificate.raw)) > 0 else { throw .invalid("no memory") }
    return try withExtendedLifetime(certificate) { () throws(ChainError) in try body(stack) }
  }

  // MARK: Cache

  /// The cache key: the exact certificates, each preceded by its length, so that no two chains have the same key.
  private static func name(of chain: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(chain.reduce(8) { $0 + $1.count })
    for der in chain {
      let count = UInt32(der.count)
      bytes += (0..<4).map { UInt8(truncatingIfNeeded: count >> UInt32(24 - 8 * $0)) }
      bytes += der
    }
    return SHA256Digest.hash(bytes)
  }

  private func cached(_ name: [UInt8], at time: Int64) -> VerifiedChain? {
    cache.withLock { cache in
      guard let path = cache.paths.peek(name), path.holds(at: time) else { return nil }
      return cache.paths.use(name)
    }
  }
}
