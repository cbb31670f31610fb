import AttributionProtocol
import ServiceRuntime

/// `SignImpressions`: up to 1,000 impressions, on all cores; results in the order of the items, a signature or an error each.
struct SignImpressionsHandler: RPCHandler {
  typealias Method = SignerService.SignImpressions

  let skAdNetwork: SignSKAdNetworkImpressionHandler
  let web: SignSKAdNetworkWebImpressionHandler
  let adAttributionKit: SignAdAttributionKitImpressionHandler

  /// Items that one task signs at a time: enough that handing them out costs nothing beside the signatures, few enough that
  /// cores end together.
  private static let share = 16

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    let items = request.items
    guard items.count <= context.limits.batchItems else {
      throw .invalidArgument(field: "items", "has more than \(context.limits.batchItems) items")
    }
    guard items.count > Self.share else { return Method.Response(results: await sign(items[...], context)) }
    var results = [ImpressionResult](repeating: ImpressionResult(), count: items.count)
    await withTaskGroup(of: (Int, [ImpressionResult]).self) { group in
      for start in stride(from: 0, to: items.count, by: Self.share) {
        group.addTask { (start, await sign(items[start..<min(start + Self.share, items.count)], context)) }
      }
      for await (start, part) in group { results.replaceSubrange(start..<start + part.count, with: part) }
    }
    return Method.Response(results: results)
  }

  private func sign(_ items: ArraySlice<ImpressionItem>, _ context: RPCContext) async -> [ImpressionResult] {
    var results: [ImpressionResult] = []
    results.reserveCapacity(items.count)
    for item in items { results.append(await sign(item, context)) }
    return results
  }

  private func sign(_ item: ImpressionItem, _ context: RPCContext) async -> ImpressionResult {
    var result = ImpressionResult()
    do throws(RPCError) {
      if let request = item.skadnetwork {
        result.skadnetwork = try skAdNetwork.sign(request, context)
      } else if let request = item.skadnetworkWeb {
        result.skadnetworkWeb = try await web.handle(request, context)
      } else if let request = item.adAttributionKit {
        result.adAttributionKit = try adAttributionKit.sign(request, context)
      } else {
        throw .invalidArgument(field: "", "must be skadnetwork, skadnetworkWeb or adAttributionKit")
      }
    } catch {
      result.error = ItemError(code: error.code.rawValue, message: error.message, field: error.fieldViolations.first?.field)
    }
    return result
  }
}
