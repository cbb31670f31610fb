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
  /// The default of ``maxBytes``, which is also the default of the greatest body on ingest's public port.
  public static let defaultMaxBytes = 256 << 10
  /// How far the time of signing may be after our clock's time, milliseconds, because our clock may be behind Apple's.
  private static let clockTolerance: Int64 = 300_000

  private let chains: CertificateChainVerifier
  let apps: [KnownApp]
  /// True if the data of Xcode and of local testing is accepted without verification for apps that have that environment. Apple does not
  /// sign it.
  let acceptsXcodeData: Bool
  /// The longest JWS, bytes (our limit). It is the same for a JWS inside a notification, because Apple limits none of them.
  private let maxBytes: Int

  public init(
    chains: CertificateChainVerifier, apps: [KnownApp], acceptsXcodeData: Bool = false, maxBytes: Int = SignedDataVerifier.defaultMaxBytes
  ) {
    self.chains = chains
    self.apps = apps
    self.acceptsXcodeData = acceptsXcodeData
    self.maxBytes = maxBytes
  }

  /// A verifier for other apps that accepts only data that Apple signs. It shares this verifier's cache of certificates.
  public func ofSignedData(of apps: [KnownApp]) -> SignedDataVerifier {
    SignedDataVerifier(chains: chains, apps: apps, maxBytes: maxBytes)
  }

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
    var verdict = SignedDataVerdict(valid: false)
    do throws(SignedDataRefusal) {
      let payload = try verifiedPayload(
        signedData, kind: kind, isUnsigned: { allowsUnsigned(kind, $0, expecting) }, now: now, &chains)
      verdict.payload = payload
      if kind == .notification {
        try check(NotificationContents(payload), expecting, now: now, into: &verdict, &chains)
      } else {
        try check(SignedDataIdentity(kind, payload), expecting, into: &verdict)
      }
      verdict.valid = true
    } catch {
      verdict.reason = error.reason
      verdict.field = error.field
    }
    return verdict
  }

  /// Checks the app and the environment of verified data. Stores them in the verdict, and returns the environment.
  @discardableResult
  private func check(
    _ identity: SignedDataIdentity, _ expecting: SignedDataExpectation, into verdict: inout SignedDataVerdict
  ) throws(SignedDataRefusal) -> String {
    verdict.environment = identity.environment ?? expecting.environment
    if identity.isOfAnotherKind { throw SignedDataRefusal(.malformed) }
    if let reason = wrongApp(identity, expecting) { throw SignedDataRefusal(reason) }
    guard let environment = verdict.environment else { throw SignedDataRefusal(.wrongEnvironment) }
    if let reason = wrongEnvironment(identity, environment, expecting) { throw SignedDataRefusal(reason) }
    verdict.bundleId = identity.bundleId ?? app(of: identity, expecting)?.bundleId ?? expecting.bundleId
    verdict.appAppleId = identity.appAppleId
    return environment
  }

  // MARK: Verification

  /// The payload after all checks but those of the app and the environment.
  ///
  /// - Parameters:
  ///   - isUnsigned: returns true for a payload that is accepted without a signature.
  ///   - usedChains: gets the JWS's certificate chain.
  private func verifiedPayload(
    _ text: String, kind: SignedDataKind, isUnsigned: (JSONObject) -> Bool, now: Int64, _ usedChains: inout [VerifiedChain]
  ) throws(SignedDataRefusal) -> JSONObject {
    let jws: EncodedJWS
    do throws(CompactJWS.Failure) { jws = try EncodedJWS(text, limit: maxBytes) } catch { throw SignedDataRefusal(.malformedJWS) }
    if let payload = try? Self.object(jws.payload), let time = try? effectiveTime(kind, payload, now: now),
      let known = chains.known(jws.header, at: time / 1000), let digest = known.digest(of: jws)
    {
      // A JWS with the same header was verified before, so the algorithm and the certificates are valid.
      if isUnsigned(payload) { return payload }
      try verify(jws.signature, of: digest, under: known.chain)
      usedChains.append(known.chain)
      return payload
    }
    guard let decoded = jws.header.decoded else { throw SignedDataRefusal(.malformedJWS) }
    let header = try Self.object(decoded)
    let payload = try Self.object(jws.payload)
    if isUnsigned(payload) { return payload }
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
    return payload
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
    guard acceptsXcodeData else { return false }
    let identity = SignedDataIdentity(kind, payload)
    guard identity.isUnsigned, let named = identity.environment else { return false }
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
  /// can be verified after its leaf certificate has expired. It is `now` if the data states none, or one that is no integer. Throws if it
  /// is more than ``clockTolerance`` after `now`.
  private func effectiveTime(_ kind: SignedDataKind, _ payload: JSONObject, now: Int64) throws(SignedDataRefusal)
    -> Int64
  {
    let name = kind == .appTransaction ? "receiptCreationDate" : "signedDate"
    guard let time = payload[name]?.int64Value else { return now }
    guard time <= now + Self.clockTolerance else { throw SignedDataRefusal(.chainInvalid) }
    return time
  }

  private static func object(_ bytes: [UInt8]) throws(SignedDataRefusal) -> JSONObject {
    guard let object = try? JSONValue(parsing: bytes).objectValue else { throw SignedDataRefusal(.malformedJWS) }
    return object
  }

  // MARK: Notifications

  /// The verified payload of a JWS inside a notification.
  private struct NestedData {
    let payload: JSONObject
    let identity: SignedDataIdentity
  }

  /// Checks a notification whose own signature is verified: the JWS inside it, its app and its environment. The JWS tell the app or the
  /// environment that the notification itself does not name; what they name must not differ from it.
  private func check(
    _ notification: NotificationContents, _ expecting: SignedDataExpectation, now: Int64, into verdict: inout SignedDataVerdict,
    _ usedChains: inout [VerifiedChain]
  ) throws(SignedDataRefusal) {
    var identity = SignedDataIdentity(notification)
    var nested: [NestedData] = []
    let isIncomplete = identity.isIncomplete
    if isIncomplete {
      nested = try nestedData(of: notification, identity, now: now, &usedChains)
      identity.complete(from: nested.map(\.identity))
    }
    let environment = try check(identity, expecting, into: &verdict)
    // A notification of another app was refused before, so that the JWS inside it cost nothing.
    if !isIncomplete { nested = try nestedData(of: notification, identity, now: now, &usedChains) }
    var isComplete = true
    let appAppleId = identity.appAppleId ?? expecting.appAppleId ?? app(of: identity, expecting)?.appAppleId
    for part in nested {
      if let named = part.identity.bundleId, let bundleId = verdict.bundleId, !named.isExactly(bundleId) {
        throw SignedDataRefusal(.wrongApp)
      }
      // Of the nested kinds, only an app transaction contains the app's Apple id, and only in production.
      if part.identity.checksAppAppleId, environment == "Production", let named = part.identity.appAppleId, named != appAppleId {
        throw SignedDataRefusal(.wrongApp)
      }
      if let named = part.identity.environment, !named.isExactly(environment) { throw SignedDataRefusal(.wrongEnvironment) }
      // It has so few members that nothing shows what it is. The notification is genuine nevertheless, and is published without it.
      if part.identity.isOfAnotherKind {
        isComplete = false
        continue
      }
      switch part.identity.kind {
      case .transaction: verdict.transactionInfo = verdict.transactionInfo ?? part.payload
      case .renewalInfo: verdict.renewalInfo = verdict.renewalInfo ?? part.payload
      case .appTransaction: verdict.appTransactionInfo = verdict.appTransactionInfo ?? part.payload
      case .notification, .realtimeRequest: break
      }
    }
    verdict.known = notification.isKnown && isComplete
  }

  /// Verifies the signatures of the JWS inside a notification.
  private func nestedData(
    of notification: NotificationContents, _ identity: SignedDataIdentity, now: Int64, _ usedChains: inout [VerifiedChain]
  ) throws(SignedDataRefusal) -> [NestedData] {
    var parts: [NestedData] = []
    for (name, kind, jws) in notification.signedParts {
      // A nested JWS may be unsigned only if the notification is of an environment whose data Apple does not sign.
      let isUnsigned = { [acceptsXcodeData] (payload: JSONObject) in
        acceptsXcodeData && identity.isUnsigned && SignedDataIdentity(kind, payload).environment == identity.environment
      }
      let payload = try verifiedPayload(jws, kind: kind, isUnsigned: isUnsigned, now: now, &usedChains)
      let part = NestedData(payload: payload, identity: SignedDataIdentity(kind, payload))
      if part.identity.hasForeignMembers { throw SignedDataRefusal(.malformed, field: name) }
      parts.append(part)
    }
    return parts
  }
}
