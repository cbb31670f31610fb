import COpenSSL
import Synchronization

/// Why a chain is not believed.
public enum ChainError: Error, Sendable, Hashable {
  /// Not exactly three certificates.
  case length(Int)
  /// The certificate at that place is not one.
  case malformedCertificate(index: Int)
  /// The path does not hold; OpenSSL's or our own word on why.
  case invalid(String)
}

/// Builds the path leaf → intermediate → pinned root, of exactly that length, by RFC 5280 and Apple's two markers
/// (App Store Server API: x5c).
///
/// Two things are remembered, each bounded and each only while its certificates are valid at the time asked about: whole paths, and
/// intermediates that a root has signed, since a P-384 signature costs most of a path. Failures are not remembered.
public final class CertificateChainVerifier: @unchecked Sendable {  // the store is not changed after set-up; the rest is behind locks
  /// Marks certificates that sign for the App Store.
  public static let leafMarker = "1.2.840.113635.100.6.11.1"
  /// Marks Apple's intermediate authority.
  public static let intermediateMarker = "1.2.840.113635.100.6.2.1"

  /// Apple signs with few leaves at a time.
  private static let rememberedHeaders = 16

  private struct Cache: Sendable {
    var paths: LeastRecentlyUsedCache<[UInt8], VerifiedChain>
    var authorities: LeastRecentlyUsedCache<[UInt8], CertificateAuthority>
    /// The path of each header under whose leaf's key a signature held.
    var headers: KnownHeaders
  }

  /// Held while a path is built: whoever asks for the same path meanwhile waits, under a millisecond or two, and finds it.
  private final class PathLock: Sendable { let lock = Mutex(()) }

  /// A pinned root, with its key where it is of a kind that can learn.
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

  /// `strict` asks for key identifiers, present and consistent: on for real chains, off only for chains made without them.
  /// `cacheCapacity` bounds the paths, `authorityCapacity` the intermediates that are remembered. A root that did not sign itself
  /// rightly is no root: no chain leads to it.
  public init(
    roots: [Certificate], strict: Bool = true, cacheCapacity: Int = 256, authorityCapacity: Int = 32
  ) {
    // Checked here once, not in every path. Such a signature proves only that the file is whole.
    self.roots = roots.filter { $0.isSelfSigned }.map { Root($0) }
    self.strict = strict
    cache = Mutex(
      Cache(
        paths: LeastRecentlyUsedCache(capacity: cacheCapacity), authorities: LeastRecentlyUsedCache(capacity: authorityCapacity),
        headers: KnownHeaders(capacity: min(cacheCapacity, Self.rememberedHeaders))))
    pathLocks = (0..<16).map { _ in PathLock() }
    // Fails only when there is no memory.
    store = X509_STORE_new()!
    for root in self.roots { X509_STORE_add_cert(store, root.certificate.raw) }
  }

  deinit { X509_STORE_free(store) }

  /// Paths found and kept.
  public var cachedPaths: Int { cache.withLock { $0.paths.count } }

  /// Intermediates found and kept.
  public var cachedAuthorities: Int { cache.withLock { $0.authorities.count } }

  /// Verifies an `x5c` of Base64 DER certificates, leaf first, at a time in seconds since 1970; answers the leaf's key.
  public func verify(x5c: [String], at time: Int64) throws(ChainError) -> PublicKey {
    try verifiedChain(x5c: x5c, at: time).key
  }

  /// As `verify(x5c:at:)`, and answers the certificates too, whose revocation may then be asked for.
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

  /// The path that a header of the same bytes led to; nil where none is remembered that is valid at that time, in seconds since 1970.
  public func chain(of header: EncodedHeader, at time: Int64) -> VerifiedChain? {
    guard let path = cache.withLock({ $0.headers.use(header) }), path.holds(at: time) else { return nil }
    return path
  }

  /// Remembers where a header leads: one under whose leaf's key a signature held, so that nobody but Apple decides what is remembered.
  public func remember(_ chain: VerifiedChain, of header: EncodedHeader) {
    cache.withLock { $0.headers.keep(chain, for: header) }
  }

  /// Whether an `x5c` has three entries whose first two are certificates: what is judged before any date.
  public static func read(x5c: [String]) throws(ChainError) {
    for (index, der) in try entries(of: x5c).enumerated() where (try? Certificate(der: der)) == nil {
      throw .malformedCertificate(index: index)
    }
  }

  /// Leaf and intermediate of an `x5c` of three, in DER.
  private static func entries(of x5c: [String]) throws(ChainError) -> [[UInt8]] {
    guard x5c.count == 3 else { throw .length(x5c.count) }
    // The third entry decides nothing, since the root is pinned. It is not read and does not name the path either: who may vary it
    // at will could otherwise have every path built anew and push the others out.
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
    // Names are compared with constraints before signatures are looked at here, each with each: a forged list is not worth that.
    if X509_get_ext_by_NID(middle.raw, NID_name_constraints, -1) >= 0 {
      let isIssued = roots.contains { (try? Self.checkSignature(of: middle, by: $0.certificate, with: $0.key)) != nil }
      guard isIssued else { throw .invalid("the intermediate is of no pinned root") }
    }
    let authorityKey = (try? middle.publicKey()).map { ChainKey($0) }
    let root = try root(of: leaf, through: middle, with: authorityKey)
    let authority = CertificateAuthority(intermediate: middle, key: authorityKey, root: root, digest: digest)
    // What a root says about the names below it is checked only over the whole path.
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
    // A leaf may sign data, not certificates.
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

  /// The whole path; answers the pinned root it ends in.
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

  /// The leaf's half of the path, under an intermediate whose own half is verified.
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

  /// What `verifying` leaves out: that the issuer may sign certificates and is the one that is named, and that its key made the signature.
  private static func checkSignature(of subject: Certificate, by issuer: Certificate, with key: ChainKey?) throws(ChainError) {
    let issued = X509_check_issued(issuer.raw, subject.raw)
    guard issued == X509_V_OK else { throw .invalid(reason(Int(issued))) }
    guard key?.signed(subject) ?? subject.isSigned(by: X509_get0_pubkey(issuer.raw)) else {
      throw .invalid(reason(Int(X509_V_ERR_CERT_SIGNATURE_FAILURE)))
    }
  }

  private static func reason(_ code: Int) -> String { X509_verify_cert_error_string(code).map { String(cString: $0) } ?? "no path" }

  /// Has OpenSSL build a path and check all of it but its signatures, which are for `read` to check: most of a path's cost is in them,
  /// and the few keys that make them have tables of their own.
  private func verifying<Answer>(
    _ leaf: Certificate, untrusted: OpaquePointer?, trusted: OpaquePointer?, depth: Int32,
    _ read: (OpaquePointer?) throws(ChainError) -> Answer
  ) throws(ChainError) -> Answer {
    guard let context = X509_STORE_CTX_new() else { throw .invalid("no memory") }
    defer { X509_STORE_CTX_free(context) }
    guard X509_STORE_CTX_init(context, store, leaf.raw, untrusted) == 1 else {
      throw .invalid(OpenSSLErrors.drain("no context"))
    }
    var flags = strict ? UInt(X509_V_FLAG_X509_STRICT) : 0
    if let trusted {
      // In place of the store: a path that ends in the verified intermediate, and in nothing else.
      X509_STORE_CTX_set0_trusted_stack(context, trusted)
      flags |= UInt(X509_V_FLAG_PARTIAL_CHAIN)
    }
    // Times are compared by `VerifiedChain`, for paths that are built and for those that are remembered alike: OpenSSL takes a
    // certificate's last second for over, RFC 5280 (section 4.1.2.5) does not.
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

  private static func withStack<Answer>(
    of certificate: Certificate, _ body: (OpaquePointer) throws(ChainError) -> Answer
  ) throws(ChainError) -> Answer {
    guard let stack = OPENSSL_sk_new_null() else { throw .invalid("no memory") }
    // The stack only borrows: the certificate outlives the call.
    defer { OPENSSL_sk_free(stack) }
    guard OPENSSL_sk_push(stack, UnsafeRawPointer(certificate.raw)) > 0 else { throw .invalid("no memory") }
    return try withExtendedLifetime(certificate) { () throws(ChainError) in try body(stack) }
  }

  // MARK: Cache

  /// The exact certificates, each with its length in front, so that no two chains share a name.
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
