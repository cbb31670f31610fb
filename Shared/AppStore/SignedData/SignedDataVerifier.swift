public import Cryptography
import WireJSON

/// Verifies JWS of the App Store (App Store Server API: JWSDecodedHeader, x5c). The checks in their order: the format, the algorithm, the
/// chain of three certificates (``CertificateChainVerifier``), the signature, the app, the environment
/// (`SignedDataVerifier+Identity.swift`), and for a notification the JWS inside it. The time is passed in.
///
/// ```swift
/// let verdict = verifier.verdict(on: signedPayload, kind: .notification, now: now)
/// guard verdict.valid else { return reject(verdict.reason, verdict.field) }
/// let transactionId = verdict.transactionInfo?["transactionId"]?.stringValue
/// ```
///
/// Whether a certificate was revoked is not checked here, but by `RevocationCheckedVerifier` in verifier.
public struct SignedDataVerifier: Sendable {
  // The longest JWS, bytes (our limits).
  private static let tokenLimit = 64 << 10
  private static let notificationLimit = 256 << 10
  /// How far the time of signing may be after our clock's time, milliseconds, because our clock may be behind Apple's.
  private static let clockTolerance: Int64 = 300_000

  private let chains: CertificateChainVerifier
  let apps: [KnownApp]
  /// True if the data of Xcode and of local testing is accepted without verification for apps that have that environment. Apple does not
  /// sign it.
  let acceptsXcodeData: Bool

  public init(chains: CertificateChainVerifier, apps: [KnownApp], acceptsXcodeData: Bool = false) {
    self.chains = chains
    self.apps = apps
    self.acceptsXcodeData = acceptsXcodeData
  }

  /// A verifier for other apps that accepts only data that Apple signs. It shares this verifier's cache of certificates.
  public func ofSignedData(of apps: [KnownApp]) -> SignedDataVerifier { SignedDataVerifier(chains: chains, apps: apps) }

  /// Verifies `signedData` at `now`, milliseconds since 1970.
  public func verdict(
    on signedData: String, kind: SignedDataKind, expecting: SignedDataExpectation = .init(), now: Int64
  ) -> SignedDataVerdict {
    var chains: [VerifiedChain] = []
    return verdict(on: signedData, kind: kind, expecting: expecting, now: now, chains: &chains)
  }

  /// Verifies `signedData` as ``verdict(on:kind:expecting:now:)``. Appends the certificate chains to `chains`, including those of nested
  /// JWS, so that the caller can check whether they were revoked.
  public func verdict(
    on signedData: String, kind: SignedDataKind, expecting: SignedDataExpectation = .init(), now: Int64,
    chains: inout [VerifiedChain]
  ) -> SignedDataVerdict {
    let payload: JSONObject
    switch verifiedPayload(signedData, kind: kind, isUnsigned: { allowsUnsigned(kind, $0, expecting) }, now: now, &chains) {
    case .failure(let refusal): return .refused(refusal.reason, field: refusal.field)
    case .success(let object): payload = object
    }
    var verdict = SignedDataVerdict(valid: false, payload: payload)
    let identity: SignedDataIdentity
    do throws(SignedDataRefusal) { identity = try SignedDataIdentity(kind, payload) } catch {
      return .refused(error.reason, field: error.field)
    }
    verdict.environment = identity.environment
    if let reason = wrongApp(identity, expecting) {
      verdict.reason = reason
      return verdict
    }
    guard let environment = identity.environment else {
      return .refused(.malformed, field: kind == .appTransaction ? "receiptType" : "environment")
    }
    if let reason = wrongEnvironment(identity, environment, expecting) {
      verdict.reason = reason
      return verdict
    }
    if kind == .notification, let refusal = readNested(payload, of: identity, into: &verdict, expecting: environment, now: now, &chains) {
      verdict.reason = refusal.reason
      verdict.field = refusal.field
      return verdict
    }
    verdict.valid = true
    return verdict
  }

  // MARK: Verification

  /// The payload after all checks but those of the app and the environment.
  ///
  /// - Parameters:
  ///   - isUnsigned: returns true for a payload that is accepted without a signature.
  ///   - usedChains: gets the JWS's certificate chain.
  private func verifiedPayload(
    _ text: String, kind: SignedDataKind, isUnsigned: (JSONObject) -> Bool, now: Int64, _ usedChains: inout [VerifiedChain]
  ) -> Result<JSONObject, SignedDataRefusal> {
    do throws(SignedDataRefusal) {
      let jws: EncodedJWS
      do throws(CompactJWS.Failure) {
        jws = try EncodedJWS(text, limit: kind == .notification ? Self.notificationLimit : Self.tokenLimit)
      } catch {
        throw SignedDataRefusal(.malformedJWS)
      }
      if let payload = try? Self.object(jws.payload), let time = try? effectiveTime(kind, payload, now: now),
        let known = chains.known(jws.header, at: time / 1000), let digest = known.digest(of: jws)
      {
        // A JWS with the same header was verified before, so the algorithm and the certificates are valid.
        if isUnsigned(payload) { return .success(payload) }
        try verify(jws.signature, of: digest, under: known.chain)
        usedChains.append(known.chain)
        return .success(payload)
      }
      guard let decoded = jws.header.decoded else { throw SignedDataRefusal(.malformedJWS) }
      let header = try Self.object(decoded)
      let payload = try Self.object(jws.payload)
      if isUnsigned(payload) { return .success(payload) }
      guard header["alg"] == .string("ES256") else { throw SignedDataRefusal(.unexpectedAlgorithm) }
      guard header["crit"] == nil, let entries = header["x5c"]?.arrayValue else {
        throw SignedDataRefusal(.malformedJWS)
      }
      let x5c = entries.compactMap(\.stringValue)
      guard x5c.count == entries.count else { throw SignedDataRefusal(.malformedJWS) }
      let time: Int64
      do throws(SignedDataRefusal) { time = try effectiveTime(kind, payload, now: now) } catch {
        // If certificates are invalid too, they are reported rather than the payload's date.
        try chain { () throws(ChainError) in try CertificateChainVerifier.requireCertificates(x5c: x5c) }
        throw error
      }
      let chain = try chain { () throws(ChainError) in try chains.verifiedChain(x5c: x5c, at: time / 1000) }
      try verify(jws.signature, of: SHA256Digest.hash(jws.signingInput), under: chain)
      chains.remember(chain, of: jws.header)
      usedChains.append(chain)
      return .success(payload)
    } catch {
      return .failure(error)
    }
  }

  private func verify(_ raw: [UInt8], of digest: [UInt8], under chain: VerifiedChain) throws(SignedDataRefusal) {
    let signature: ECDSASignature
    do throws(SignatureError) { signature = try ECDSASignature(raw: raw, curve: .p256) } catch {
      throw SignedDataRefusal(.malformedSignature)
    }
    guard chain.verifies(signature, digest: digest) else { throw SignedDataRefusal(.badSignature) }
  }

  /// True if a payload of Xcode or of local testing is accepted without verification. What the data says about itself is never enough:
  /// ``acceptsXcodeData`` must be true, and the configured app must have that environment. If the app is not configured, or the data names
  /// none, the caller must expect that environment. If neither the data nor the caller names an app, and the caller expects no environment,
  /// it is enough that some configured app has it.
  private func allowsUnsigned(_ kind: SignedDataKind, _ payload: JSONObject, _ expecting: SignedDataExpectation) -> Bool {
    guard acceptsXcodeData, let identity = try? SignedDataIdentity(kind, payload), identity.isUnsigned, let named = identity.environment
    else { return false }
    if let app = app(of: identity, expecting) {
      return app.environments.contains(named) && (expecting.environment ?? named) == named
    }
    if let expected = expecting.environment { return expected == named }
    let namesApp = (identity.bundleId ?? expecting.bundleId) != nil || identity.appAppleId != nil
    return !namesApp && apps.contains { $0.environments.contains(named) }
  }

  private func chain<Value>(_ read: () throws(ChainError) -> Value) throws(SignedDataRefusal) -> Value {
    do throws(ChainError) { return try read() } catch {
      switch error {
      case .length: throw SignedDataRefusal(.chainLength)
      case .malformedCertificate: throw SignedDataRefusal(.malformedCertificate)
      case .invalid: throw SignedDataRefusal(.chainInvalid)
      }
    }
  }

  /// The time at which the certificates must be valid, milliseconds since 1970: the time of signing that the data states, so that old data
  /// can be verified after its leaf certificate has expired. It is `now` if the data states none. Throws if it is more than
  /// ``clockTolerance`` after `now`.
  private func effectiveTime(_ kind: SignedDataKind, _ payload: JSONObject, now: Int64) throws(SignedDataRefusal)
    -> Int64
  {
    let name = kind == .appTransaction ? "receiptCreationDate" : "signedDate"
    guard let value = payload[name], !value.isNull else { return now }
    guard let time = value.int64Value else { throw SignedDataRefusal(.malformed, field: name) }
    guard time <= now + Self.clockTolerance else { throw SignedDataRefusal(.chainInvalid) }
    return time
  }

  private static func object(_ bytes: [UInt8]) throws(SignedDataRefusal) -> JSONObject {
    guard let object = try? JSONValue(parsing: bytes).objectValue else { throw SignedDataRefusal(.malformedJWS) }
    return object
  }

  // MARK: Nested data

  /// Verifies the JWS inside a notification and stores their payloads in the verdict. Returns why the notification is refused; nil if all
  /// are valid.
  private func readNested(
    _ payload: JSONObject, of identity: SignedDataIdentity, into verdict: inout SignedDataVerdict, expecting environment: String,
    now: Int64,
    _ usedChains: inout [VerifiedChain]
  ) -> SignedDataRefusal? {
    for nested in NotificationContents.nested {
      let (name, kind) = (nested.name, nested.kind)
      guard let holder = payload[nested.holder]?.objectValue, let value = holder[name], !value.isNull else { continue }
      guard let text = value.stringValue else { return SignedDataRefusal(.malformed, field: name) }
      // A nested JWS may be unsigned only if the notification is of an environment whose data Apple does not sign.
      let isUnsigned = { [acceptsXcodeData] (payload: JSONObject) in
        acceptsXcodeData && identity.isUnsigned && SignedDataIdentity.environment(kind, payload) == environment
      }
      switch verifiedPayload(text, kind: kind, isUnsigned: isUnsigned, now: now, &usedChains) {
      case .failure(let refusal): return refusal
      case .success(let object):
        guard let inner = try? SignedDataIdentity(kind, object) else {
          return SignedDataRefusal(.malformed, field: name)
        }
        if let bundleId = inner.bundleId, let outer = holder["bundleId"]?.stringValue, !bundleId.isExactly(outer) {
          return SignedDataRefusal(.wrongApp)
        }
        // Of the nested kinds, only an app transaction contains the app's Apple id, and only in production.
        if inner.checksAppAppleId, environment == "Production", inner.appAppleId != identity.appAppleId {
          return SignedDataRefusal(.wrongApp)
        }
        if inner.environment != environment { return SignedDataRefusal(.wrongEnvironment) }
        switch kind {
        case .transaction: verdict.transactionInfo = object
        case .renewalInfo: verdict.renewalInfo = object
        case .appTransaction: verdict.appTransactionInfo = object
        case .notification, .realtimeRequest: break
        }
      }
    }
    return nil
  }
}
