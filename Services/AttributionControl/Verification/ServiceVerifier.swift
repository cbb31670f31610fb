import AttributionProtocol
import WireJSON

/// Verifies signed data by calling the service verifier, which has the configured keys, roots and apps.
struct ServiceVerifier: Sendable {
  let connection: Connection
  var bundleId: String?
  var appAppleId: Int64?
  var environment: String?
  /// True if data that names no app is accepted as that of the expected app.
  var trustedSource = false

  func verify(_ input: SignedInput) async throws(CommandFailure) -> VerdictReport {
    let verifier = connection.client.verifier
    switch input {
    case .skAdNetworkPostback(let body):
      let request = VerifySKAdNetworkPostbackRequest(postbackText: String(decoding: body, as: UTF8.self))
      let response = try await connection.ask(.verifier) { () throws(RPCError) in try await verifier.verifySKAdNetworkPostback(request) }
      return VerdictReport(
        kind: input.name, valid: response.valid ?? false, reason: response.reason, field: response.field, environment: response.environment,
        keyId: response.keyId, content: response.postback, unsigned: response.unsigned, unusable: response.unusable)
    case .adAttributionKitPostback(let body):
      let request = VerifyAdAttributionKitPostbackRequest(postbackText: String(decoding: body, as: UTF8.self))
      let response = try await connection.ask(.verifier) { () throws(RPCError) in
        try await verifier.verifyAdAttributionKitPostback(request)
      }
      return VerdictReport(
        kind: input.name, valid: response.valid ?? false, reason: response.reason, field: response.field, environment: response.environment,
        keyId: response.keyId, content: response.postback, unsigned: response.unsigned, unusable: response.unusable)
    case .appStore(let jws, let kind):
      let request = VerifyAppStoreSignedDataRequest(
        signedData: jws, kind: kind.rawValue, bundleId: bundleId, appAppleId: appAppleId, environment: environment,
        trustedSource: trustedSource)
      let response = try await connection.ask(.verifier) { () throws(RPCError) in try await verifier.verifyAppStoreSignedData(request) }
      var content = response.payload
      for (name, part) in [
        ("transactionInfo", response.transactionInfo), ("renewalInfo", response.renewalInfo),
        ("appTransactionInfo", response.appTransactionInfo),
      ] {
        if let part { content?[name] = .object(part) }
      }
      return VerdictReport(
        kind: input.name, valid: response.valid ?? false, reason: response.reason, field: response.field, environment: response.environment,
        known: response.known, content: content)
    case .skAdNetworkImpression(let object): return try await impression(object, input.name)
    case .adAttributionKitImpression(let jws):
      let request = VerifyAdAttributionKitImpressionRequest(jws: jws)
      let response = try await connection.ask(.verifier) { () throws(RPCError) in
        try await verifier.verifyAdAttributionKitImpression(request)
      }
      return VerdictReport(
        kind: input.name, valid: response.valid ?? false, reason: response.reason, field: response.field, keyId: response.keyId,
        content: response.payload)
    case .appReceipt(let text): return try await receipt(ExtractTransactionIdsRequest(appReceipt: text), input.name)
    case .transactionReceipt(let text): return try await receipt(ExtractTransactionIdsRequest(transactionReceipt: text), input.name)
    case .verifyReceiptResponse(let object):
      return try await receipt(ExtractTransactionIdsRequest(verifyReceiptResponse: object), input.name)
    }
  }

  private func impression(_ object: JSONObject, _ name: String) async throws(CommandFailure) -> VerdictReport {
    // Signer's answer has other members too, and the request refuses unknown members.
    let members: Set<String> = [
      "version", "adNetworkId", "campaignId", "sourceIdentifier", "itunesItemId", "sourceAppId", "sourceDomain", "fidelityType", "nonce",
      "timestamp", "signature",
    ]
    let kept = JSONObject(object.members.filter { members.contains($0.key) })
    let request: VerifySKAdNetworkImpressionRequest
    do throws(JSONError) { request = try VerifySKAdNetworkImpressionRequest(json: JSONValue.object(kept).serialized) } catch {
      throw CommandFailure(.refusedInput, "the impression cannot be read: \(error)")
    }
    let response = try await connection.ask(.verifier) { () throws(RPCError) in
      try await connection.client.verifier.verifySKAdNetworkImpression(request)
    }
    return VerdictReport(
      kind: name, valid: response.valid ?? false, reason: response.reason, field: response.field, keyId: response.keyId, content: kept)
  }

  private func receipt(_ request: ExtractTransactionIdsRequest, _ name: String) async throws(CommandFailure) -> VerdictReport {
    let response = try await connection.ask(.verifier) { () throws(RPCError) in
      try await connection.client.verifier.extractTransactionIds(request)
    }
    return .receipt(name, originals: response.originalTransactionIds, others: response.transactionIds)
  }
}
