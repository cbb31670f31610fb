import AppleAttribution
import AttributionProtocol
import ServiceRuntime

/// `VerifyBatch`: verifies up to `limits.batchItems` items (1,000 by default) on all cores. The results are in the order of the items.
struct VerifyBatchHandler: BatchRPCHandler {
  typealias Method = VerifierService.VerifyBatch
  let verdicts: Verdicts

  func respond(to item: VerifyItem, _ resources: Void, _ context: RPCContext) async throws(RPCError) -> VerifyResult {
    var result = VerifyResult()
    if let request = item.skadnetworkPostback {
      result.skadnetworkPostback = try verdicts.verify(request)
    } else if let request = item.adAttributionKitPostback {
      result.adAttributionKitPostback = try verdicts.verify(request)
    } else if let request = item.appStoreSignedData {
      result.appStoreSignedData = try await verdicts.verify(request)
    } else if let request = item.skadnetworkImpression {
      result.skadnetworkImpression = try await verdicts.verify(request)
    } else if let request = item.adAttributionKitImpression {
      result.adAttributionKitImpression = try await verdicts.verify(request)
    } else {
      throw .invalidArgument(
        field: "",
        "an item must have one of skadnetworkPostback, adAttributionKitPostback, appStoreSignedData, skadnetworkImpression and "
          + "adAttributionKitImpression")
    }
    return result
  }

  func failure(_ error: RPCError) -> VerifyResult { VerifyResult(error: ItemError(error)) }
}
