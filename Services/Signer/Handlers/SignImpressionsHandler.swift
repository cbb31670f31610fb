import AttributionProtocol
import ServiceRuntime

/// `SignImpressions`: signs a batch of impressions (`limits.batchItems`) on all cores. Each result is a signed impression or an error, in
/// the order of the items.
struct SignImpressionsHandler: SigningBatchHandler {
  typealias Method = SignerService.SignImpressions
  typealias Item = ImpressionItem
  typealias ItemResult = ImpressionResult

  let skAdNetwork: SignSKAdNetworkImpressionHandler
  let web: SignSKAdNetworkWebImpressionHandler
  let adAttributionKit: SignAdAttributionKitImpressionHandler

  func begin(_ item: ImpressionItem, _ context: RPCContext) async throws(RPCError) -> CheckedItem<ImpressionResult> {
    if let request = item.skadnetwork {
      return .signature(try skAdNetwork.begin(request, context).map { ImpressionResult(skadnetwork: $0) })
    }
    if let request = item.skadnetworkWeb {
      guard request.deferred != true else {
        return .complete(ImpressionResult(skadnetworkWeb: try await web.handle(request, context)))
      }
      return .signature(try web.begin(request, context).map { ImpressionResult(skadnetworkWeb: $0) })
    }
    if let request = item.adAttributionKit {
      return .signature(try adAttributionKit.begin(request, context).map { ImpressionResult(adAttributionKit: $0) })
    }
    throw .invalidArgument(field: "", "must be skadnetwork, skadnetworkWeb or adAttributionKit")
  }

  func failure(_ error: RPCError) -> ImpressionResult { ImpressionResult(error: ItemError(error)) }
}
