import AppleAttribution
import AttributionProtocol
import ServiceRuntime

/// `VerifyAdAttributionKitPostback`: verifies a postback, without I/O.
struct VerifyAdAttributionKitPostbackHandler: ImmediateRPCHandler {
  typealias Method = VerifierService.VerifyAdAttributionKitPostback
  let verdicts: Verdicts

  func respond(to request: VerifyAdAttributionKitPostbackRequest, _ context: RPCContext) throws(RPCError)
    -> VerifyAdAttributionKitPostbackResponse
  {
    try verdicts.verify(request)
  }
}

extension Verdicts {
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
      keyId: verdict.keyId, postback: verdict.postback?.typed(), unsigned: verdict.postback?.unsigned.received,
      unusable: verdict.postback?.unsigned.unusable ?? [])
  }
}
