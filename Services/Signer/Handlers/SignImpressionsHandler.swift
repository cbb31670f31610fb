import AttributionProtocol
import ServiceRuntime

/// `SignImpressions`: up to 1,000 impressions, on all cores; results in the order of the items, a signature or an error each.
struct SignImpressionsHandler: BatchRPCHandler {
  typealias Method = SignerService.SignImpressions

  let skAdNetwork: SignSKAdNetworkImpressionHandler
  let web: SignSKAdNetworkWebImpressionHandler
  let adAttributionKit: SignAdAttributionKitImpressionHandler

  func answer(_ item: ImpressionItem, _ resources: Void, _ context: RPCContext) async throws(RPCError) -> ImpressionResult {
    switch try await begin(item, context) {
    case .signature(let call): return try call.performAlone()
    case .complete(let result): return result
    }
  }

  /// The signatures of the items are made together.
  func answer(share items: [Result<ImpressionItem, RPCError>], _ resources: Void, _ context: RPCContext) async
    -> [Result<ImpressionResult, RPCError>]
  {
    var begun: [Result<Begun, RPCError>] = []
    var pending: [PendingSignature] = []
    for item in items {
      do throws(RPCError) {
        let item = try await begin(try item.get(), context)
        if case .signature(let call) = item { pending.append(call.work) }
        begun.append(.success(item))
      } catch {
        begun.append(.failure(error))
      }
    }
    PendingSignature.perform(pending)
    return begun.map { item in
      Result { () throws(RPCError) in
        switch try item.get() {
        case .signature(let call): return try call.answer()
        case .complete(let result): return result
        }
      }
    }
  }

  private enum Begun {
    case signature(CoalescedCall<PendingSignature, ImpressionResult>)
    /// Nothing is signed now: a web ad that is kept.
    case complete(ImpressionResult)
  }

  private func begin(_ item: ImpressionItem, _ context: RPCContext) async throws(RPCError) -> Begun {
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

  func failure(_ error: RPCError) -> ImpressionResult {
    ImpressionResult(
      error: ItemError(code: error.code.rawValue, message: error.message, field: error.fieldViolations.first?.field))
  }
}
