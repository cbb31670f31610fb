import AppStore
import AppleAttribution
import AttributionProtocol
import Cryptography
import ServiceRuntime
import WireJSON

/// Computes verdicts as messages of the contract, for single calls and batches.
struct Verdicts: Sendable {
  let postbacks: PostbackVerifier
  let signedData: RevocationCheckedVerifier
  let impressions: ImpressionKeys

  func verify(_ request: VerifySKAdNetworkPostbackRequest) throws(RPCError) -> VerifySKAdNetworkPostbackResponse {
    let verdict =
      switch try PostbackInput(request.postback, request.postbackText) {
      case .object(let object): postbacks.verdict(onSKAdNetwork: object)
      case .text(let bytes): postbacks.verdict(onSKAdNetwork: bytes)
      }
    return VerifySKAdNetworkPostbackResponse(
      valid: verdict.valid, reason: verdict.reason?.rawValue, field: verdict.field, version: verdict.version,
      keyId: verdict.keyId,
      transactionId: verdict.transactionId, postback: verdict.postback?.typed,
      environment: verdict.environment?.rawValue, unsigned: verdict.valid ? verdict.postback?.unsignedValues : nil)
  }

  func verify(_ request: VerifyAdAttributionKitPostbackRequest) throws(RPCError)
    -> VerifyAdAttributionKitPostbackResponse
  {
    let verdict =
      switch try PostbackInput(request.postback, request.postbackText) {
      case .object(let object): postbacks.verdict(onAdAttributionKit: object)
      case .text(let bytes): postbacks.verdict(onAdAttributionKit: bytes)
      }
    return VerifyAdAttributionKitPostbackResponse(
      valid: verdict.valid, reason: verdict.reason?.rawValue, field: verdict.field,
      environment: verdict.environment?.rawValue,
      keyId: verdict.keyId, postback: verdict.postback?.typed, unsigned: verdict.valid ? verdict.postback?.unsignedValues : nil)
  }

  /// Verifies without asking responders about the revocation of certificates.
  func verifyOffline(_ request: VerifyAppStoreSignedDataRequest) throws(RPCError) -> VerifyAppStoreSignedDataResponse {
    let (text, kind, expecting) = try Self.question(request)
    return Self.response(signedData.offlineVerdict(on: text, kind: kind, expecting: expecting, now: WallClock.now()))
  }

  func verify(_ request: VerifyAppStoreSignedDataRequest) async throws(RPCError) -> VerifyAppStoreSignedDataResponse {
    let (text, kind, expecting) = try Self.question(request)
    return Self.response(await signedData.verdict(on: text, kind: kind, expecting: expecting, now: WallClock.now()))
  }

  private static func question(_ request: VerifyAppStoreSignedDataRequest) throws(RPCError) -> (
    String, SignedDataKind, SignedDataExpectation
  ) {
    guard let text = request.signedData else { throw .invalidArgument(field: "signedData", "is missing") }
    guard let kind = request.kind.flatMap(SignedDataKind.init) else {
      throw .invalidArgument(
        field: "kind", "must be one of \(SignedDataKind.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    if let environment = request.environment, !["Production", "Sandbox", "Xcode", "LocalTesting"].contains(environment) {
      throw .invalidArgument(field: "environment", "must be Production or Sandbox")
    }
    return (
      text, kind,
      SignedDataExpectation(bundleId: request.bundleId, appAppleId: request.appAppleId, environment: request.environment)
    )
  }

  private static func response(_ verdict: SignedDataVerdict) -> VerifyAppStoreSignedDataResponse {
    VerifyAppStoreSignedDataResponse(
      valid: verdict.valid, reason: verdict.reason?.rawValue, field: verdict.field, environment: verdict.environment,
      payload: verdict.payload, transactionInfo: verdict.transactionInfo, renewalInfo: verdict.renewalInfo,
      appTransactionInfo: verdict.appTransactionInfo)
  }

  func verify(_ request: VerifySKAdNetworkImpressionRequest) async throws(RPCError) -> VerifySKAdNetworkImpressionResponse {
    let parameters = SKAdNetworkImpression.Parameters(
      version: request.version, adNetworkId: request.adNetworkId, campaignId: request.campaignId.map(Int64.init),
      sourceIdentifier: request.sourceIdentifier.map(Int64.init), itunesItemId: request.itunesItemId,
      sourceAppId: request.sourceAppId, sourceDomain: request.sourceDomain, fidelityType: request.fidelityType.map(Int64.init),
      nonce: request.nonce, timestamp: request.timestamp)
    let verdict = try await impressions.verdict { $0.verdict(onSKAdNetwork: parameters, signature: request.signature) }
    return VerifySKAdNetworkImpressionResponse(
      valid: verdict.valid, reason: verdict.reason?.rawValue, field: verdict.field, keyId: verdict.keyId)
  }

  func verify(_ request: VerifyAdAttributionKitImpressionRequest) async throws(RPCError) -> VerifyAdAttributionKitImpressionResponse {
    guard let jws = request.jws else { throw .invalidArgument(field: "jws", "is missing") }
    let verdict = try await impressions.verdict { $0.verdict(onAdAttributionKit: jws) }
    return VerifyAdAttributionKitImpressionResponse(
      valid: verdict.valid, reason: verdict.reason?.rawValue, field: verdict.field, keyId: verdict.keyId,
      payload: verdict.payload)
  }
}

/// A postback in a request: Apple's object, or the body as it was received.
private enum PostbackInput {
  case object(JSONObject)
  case text([UInt8])

  init(_ object: JSONObject?, _ text: String?) throws(RPCError) {
    switch (object, text) {
    case (let object?, nil): self = .object(object)
    case (nil, let text?): self = .text(Array(text.utf8))
    case (nil, nil): throw .invalidArgument(field: "postback", "is missing; postback or postbackText is needed")
    default: throw .invalidArgument(field: "postbackText", "must not be given together with postback")
    }
  }
}
