import AttributionProtocol
import ServiceRuntime

/// `SignImpressions`: up to 1,000 impressions, on all cores; results in the order of the items, a signature or an error each.
struct SignImpressionsHandler: BatchRPCHandler {
  typealias Method = SignerService.SignImpressions

  let skAdNetwork: SignSKAdNetworkImpressionHandler
  let web: SignSKAdNetworkWebImpressionHandler
  let adAttributionKit: SignAdAttributionKitImpressionHandler

  func answer(_ item: ImpressionItem, _ resources: Void, _ context: RPCContext) async throws(RPCError) -> ImpressionResult {
    var result = ImpressionResult()
    if let request = item.skadnetwork {
      result.skadnetwork = try skAdNetwork.sign(request, context)
    } else if let request = item.skadnetworkWeb {
      result.skadnetworkWeb = try await web.handle(request, context)
    } else if let request = item.adAttributionKit {
      result.adAttributionKit = try adAttributionKit.sign(request, context)
    } else {
      throw .invalidArgument(field: "", "must be skadnetwork, skadnetworkWeb or adAttributionKit")
    }
    return result
  }

  func failure(_ error: RPCError) -> ImpressionResult {
    ImpressionResult(
      error: ItemError(code: error.code.rawValue, message: error.message, field: error.fieldViolations.first?.field))
  }
}
