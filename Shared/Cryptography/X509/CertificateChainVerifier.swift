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
public final class CertificateChainVerifier: @unchecked Sendable {  // the store is not changed after set-up; the cache is behind a lock
  /// Marks certificates that sign for the App Store.
  public static let leafMarker = "1.2.840.113635.100.6.11.1"
  /// Marks Apple's intermediate authority.
  public static let intermediateMarker = "1.2.840.113635.100.6.2.1"

  private struct Path {
    let key: PublicKey
    let notBefore: Int64
    let notAfter: Int64
    var used: UInt64
  }

  private struct Cache {
    var paths: [[UInt8]: Path] = [:]
    var clock: UInt64 = 0
  }

  private let store: OpaquePointer
  private let roots: [Certificate]
  private let strict: Bool
  private let capacity: Int
  private let cache = Mutex(Cache())

  /// `strict` asks for key identifiers, present and consistent: on for real chains, off only for chains made without them.
  public init(roots: [Certificate], strict: Bool = true, cacheCapacity: Int = 256) {
    self.roots = roots
    self.strict = strict
    capacity = cacheCapacity
    // Fails only when there is no memory.
    store = X509_STORE_new()!
    for root in roots { X509_STORE_add_cert(store, root.raw) }
  }

  deinit { X509_STORE_free(store) }

  /// Paths found and kept.
  public var cachedPaths: Int { cache.withLock { $0.paths.count } }

  /// Verifies an `x5c` of Base64 DER certificates, leaf first, at a time in seconds since 1970; answers the leaf's key.
  public func verify(x5c: [String], at time: Int64) throws(ChainError) -> PublicKey {
    guard x5c.count == 3 else { throw .length(x5c.count) }
    var chain: [[UInt8]] = []
    for (index, text) in x5c.enumerated() {
      // The third one is never trusted: whatever it is, the pinned root decides.
      guard let der = Base64.decode(text) else {
        if index == 2 {
          chain.append(Array(text.utf8))
          continue
        }
        throw .malformedCertificate(index: index)
      }
      chain.append(der)
    }
    let name = Self.name(of: chain)
    if let key = cached(name, at: time) { return key }
    var certificates: [Certificate] = []
    for index in 0..<2 {
      do throws(Certificate.Failure) { certificates.append(try Certificate(der: chain[index])) } catch {
        throw .malformedCertificate(index: index)
      }
    }
    let (key, root) = try build(leaf: certificates[0], intermediate: certificates[1], at: time)
    let all = certificates + [root]
    keep(name, key, notBefore: all.map(\.notBefore).max()!, notAfter: all.map(\.notAfter).min()!)
    return key
  }

  private func build(leaf: Certificate, intermediate: Certificate, at time: Int64) throws(ChainError) -> (
    PublicKey, Certificate
  ) {
    guard leaf.hasExtension(Self.leafMarker) else { throw .invalid("the leaf lacks Apple's marker") }
    guard intermediate.hasExtension(Self.intermediateMarker) else {
      throw .invalid("the intermediate lacks Apple's marker")
    }
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
    guard let context = X509_STORE_CTX_new(), let untrusted = OPENSSL_sk_new_null() else { throw .invalid("no memory") }
    defer {
      X509_STORE_CTX_free(context)
      OPENSSL_sk_free(untrusted)
    }
    OPENSSL_sk_push(untrusted, UnsafeRawPointer(intermediate.raw))
    guard X509_STORE_CTX_init(context, store, leaf.raw, untrusted) == 1 else {
      throw .invalid(OpenSSLErrors.drain("no context"))
    }
    let parameters = X509_STORE_CTX_get0_param(context)
    X509_VERIFY_PARAM_set_time(parameters, time_t(time))
    // Every signature, the pinned root's own included, and no shortcut over an intermediate that is trusted by itself.
    X509_VERIFY_PARAM_set_flags(
      parameters, UInt(X509_V_FLAG_CHECK_SS_SIGNATURE) | (strict ? UInt(X509_V_FLAG_X509_STRICT) : 0))
    X509_VERIFY_PARAM_set_depth(parameters, 1)
    guard X509_verify_cert(context) == 1 else {
      let reason =
        X509_verify_cert_error_string(Int(X509_STORE_CTX_get_error(context))).map { String(cString: $0) } ?? "no path"
      ERR_clear_error()
      throw .invalid(reason)
    }
    guard let path = X509_STORE_CTX_get0_chain(context), OPENSSL_sk_num(path) == 3, let top = OPENSSL_sk_value(path, 2),
      let middle = OPENSSL_sk_value(path, 1), X509_cmp(OpaquePointer(middle), intermediate.raw) == 0,
      let root = roots.first(where: { X509_cmp($0.raw, OpaquePointer(top)) == 0 })
    else { throw .invalid("the path is not leaf, intermediate, pinned root") }
    return (key, root)
  }

  // MARK: Cache

  /// The exact certificates, each with its length in front, so that no two chains share a name.
  private static func name(of chain: [[UInt8]]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(chain.reduce(12) { $0 + $1.count })
    for der in chain {
      let count = UInt32(der.count)
      bytes += (0..<4).map { UInt8(truncatingIfNeeded: count >> UInt32(24 - 8 * $0)) }
      bytes += der
    }
    return SHA256Digest.hash(bytes)
  }

  private func cached(_ name: [UInt8], at time: Int64) -> PublicKey? {
    cache.withLock { cache in
      guard let path = cache.paths[name], path.notBefore <= time, time <= path.notAfter else { return nil }
      cache.clock += 1
      cache.paths[name]!.used = cache.clock
      return path.key
    }
  }

  private func keep(_ name: [UInt8], _ key: PublicKey, notBefore: Int64, notAfter: Int64) {
    guard capacity > 0 else { return }
    cache.withLock { cache in
      cache.clock += 1
      if cache.paths.count >= capacity, cache.paths[name] == nil,
        let oldest = cache.paths.min(by: { $0.value.used < $1.value.used })
      {
        cache.paths[oldest.key] = nil
      }
      cache.paths[name] = Path(key: key, notBefore: notBefore, notAfter: notAfter, used: cache.clock)
    }
  }
}
