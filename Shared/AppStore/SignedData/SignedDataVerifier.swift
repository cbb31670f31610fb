public import Cryptography
import WireJSON

/// Verifies JWS of the App Store: form, algorithm, chain (``CertificateChainVerifier``: three certificates, leaf first), signature, identity, in
/// this order (App Store Server API: JWSDecodedHeader, x5c).
/// Pure: the time is passed in.
public struct SignedDataVerifier: Sendable {
  private static let tokenLimit = 64 << 10
  private static let notificationLimit = 256 << 10
  /// The tolerance for Apple's clock being ahead of ours, milliseconds.
  private static let clockTolerance: Int64 = 300_000

  private let chains: CertificateChainVerifier
  let apps: [KnownApp]
  /// True if data of Xcode and local testing, which Apple does not sign, is accepted without verification for apps with that environment.
  let acceptsXcodeData: Bool

  public init(chains: CertificateChainVerifier, apps: [KnownApp], acceptsXcodeData: Bool = false) {
    self.chains = chains
    self.apps = apps
    self.acceptsXcodeData = acceptsXcodeData
  }

  /// A verifier for other apps that accepts signed data only. It shares the cache of certificates.
  public func ofSignedData(of apps: [KnownApp]) -> SignedDataVerifier { SignedDataVerifier(chains: chains, apps: apps) }

  /// Verifies `signedData` at `now`, milliseconds since 1970.
  public func verdict(
    on signedData: String, kind: SignedDataKind, expecting: SignedDataExpectation = .init(), now: Int64
  ) -> SignedDataVerdict {
    var chains: [VerifiedChain] = []
    return verdict(on: signedData, kind: kind, expecting: expecting, now: now, chains: &chains)
  }

  /// Verifies `signedData`, and returns the certificate chains, including those of nested JWS, so that the caller can check their
  /// revocation.
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

  private func verifiedPayload(
    _ text: String, kind: SignedDataKind, isUnsigned: (JSONObject) -> Bool, now: Int64, _ built: inout [VerifiedChain]
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
        // The same header was verified before, so its algorithm and certificates are valid.
        if isUnsigned(payload) { return .success(payload) }
        try verify(jws.signature, of: digest, under: known.chain)
        built.append(known.chain)
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
        // Invalid certificates are reported before an invalid date in the payload.
        try chain { () throws(ChainError) in try CertificateChainVerifier.read(x5c: x5c) }
        throw error
      }
      let chain = try chain { () throws(ChainError) in try chains.verifiedChain(x5c: x5c, at: time / 1000) }
      try verify(jws.signature, of: SHA256Digest.hash(jws.signingInput), under: chain)
      chains.remember(chain, of: jws.header)
      built.append(chain)
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

  /// True if data of Xcode or local testing, which Apple does not sign, is accepted without verification. The data's own claim is never
  /// enough: the switch must be on, and the configured app must have that environment. For an app that is not configured, and for data that
  /// names none, the caller may request it; if the caller does not name an app, data without an app counts as data of any app that has the
  /// environment.
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

  /// The time of signing in the data, at most ``clockTolerance`` after now, so that old data can be verified after its leaf certificate has expired.
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

  /// Verifies nested JWS. A notification is valid only if all of them are.
  private func readNested(
    _ payload: JSONObject, of identity: SignedDataIdentity, into verdict: inout SignedDataVerdict, expecting environment: String,
    now: Int64,
    _ built: inout [VerifiedChain]
  ) -> SignedDataRefusal? {
    for nested in NotificationContents.nested {
      let (name, kind) = (nested.name, nested.kind)
      guard let holder = payload[nested.holder]?.objectValue, let value = holder[name], !value.isNull else { continue }
      guard let text = value.stringValue else { return SignedDataRefusal(.malformed, field: name) }
      // Nested data may be unsigned only if the notification is.
      let isUnsigned = { [acceptsXcodeData] (payload: JSONObject) in
        acceptsXcodeData && identity.isUnsigned && SignedDataIdentity.environment(kind, payload) == environment
      }
      switch verifiedPayload(text, kind: kind, isUnsigned: isUnsigned, now: now, &built) {
      case .failure(let refusal): return refusal
      case .success(let object):
        guard let inner = try? SignedDataIdentity(kind, object) else {
          return SignedDataRefusal(.malformed, field: name)
        }
        if let bundleId = inner.bundleId, let outer = holder["bundleId"]?.stringValue, !bundleId.isExactly(outer) {
          return SignedDataRefusal(.wrongApp)
        }
        // Renewal information does not name an app. An app transaction of production does, and has its Apple id too.
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
