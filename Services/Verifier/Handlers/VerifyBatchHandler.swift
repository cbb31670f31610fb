import AppleAttribution
import AttributionProtocol
import ServiceRuntime

/// `VerifyBatch`: up to 1,000 verdicts, computed on all cores. They are in the order of the items.
struct VerifyBatchHandler: BatchRPCHandler {
  typealias Method = VerifierService.VerifyBatch
  let verdicts: Verdicts

  func respond(to item: VerifyItem, _ resources: Void, _ context: RPCContext) async throws(RPCError) -> VerifyResult {
    var result = VerifyResult()
    if let question = item.skadnetworkPostback {
      result.skadnetworkPostback = try verdicts.verify(question)
    } else if let question = item.adAttributionKitPostback {
      result.adAttributionKitPostback = try verdicts.verify(question)
    } else if let question = item.appStoreSignedData {
      result.appStoreSignedData = try await verdicts.verify(question)
    } else if let question = item.skadnetworkImpression {
      result.skadnetworkImpression = try await verdicts.verify(question)
    } else if let question = item.adAttributionKitImpression {
      result.adAttributionKitImpression = try await verdicts.verify(question)
    } else {
      throw .invalidArgument(
        field: "",
        "an item names its kind: skadnetworkPostback, adAttributionKitPostback, appStoreSignedData, skadnetworkImpression or "
          + "adAttributionKitImpression")
    }
    return result
  }

  func failure(_ error: RPCError) -> VerifyResult { VerifyResult(error: ItemError(error)) }
}
