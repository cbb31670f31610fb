import AppleAttribution
import AttributionProtocol
import ServiceRuntime

/// `VerifySKAdNetworkPostback`: verifies a postback, without I/O.
struct VerifySKAdNetworkPostbackHandler: ImmediateRPCHandler {
  typealias Method = VerifierService.VerifySKAdNetworkPostback
  let verdicts: Verdicts

  func respond(to request: VerifySKAdNetworkPostbackRequest, _ context: RPCContext) throws(RPCError)
    -> VerifySKAdNetworkPostbackResponse
  {
    try verdicts.verify(request)
  }
}

extension Verdicts {
  func verify(_ request: VerifySKAdNetworkPostbackRequest) throws(RPCError) -> VerifySKAdNetworkPostbackResponse {
    let verdict =
      switch try PostbackInput(request.postback, request.postbackText) {
      case .object(let object): postbacks.verdict(onSKAdNetwork: object)
      case .text(let bytes): postbacks.verdict(onSKAdNetwork: bytes)
      }
    return VerifySKAdNetworkPostbackResponse(
      valid: verdict.valid, reason: verdict.reason?.rawValue, field: verdict.field, version: verdict.version,
      keyId: verdict.keyId,
      transactionId: verdict.transactionId, postback: verdict.postback?.typed(),
      environment: verdict.environment?.rawValue, unsigned: verdict.valid ? verdict.postback?.unsigned.received : nil,
      unusable: verdict.valid ? verdict.postback?.unsigned.unusable ?? [] : [])
  }
}
