import AttributionProtocol
import Foundation
import ServiceRuntime

/// `SignImpressions`: up to 1,000 impressions, on all cores; results in the order of the items, a signature or an error each.
struct SignImpressionsHandler: RPCHandler {
  typealias Method = SignerService.SignImpressions

  let skAdNetwork: SignSKAdNetworkImpressionHandler
  let web: SignSKAdNetworkWebImpressionHandler
  let adAttributionKit: SignAdAttributionKitImpressionHandler

  /// Fewer are signed faster than they are spread over cores.
  private static let smallestShare = 16

  func handle(_ request: Method.Request, _ context: RPCContext) async throws(RPCError) -> Method.Response {
    let items = request.items
    guard items.count <= context.limits.batchItems else {
      throw .invalidArgument(field: "items", "has more than \(context.limits.batchItems) items")
    }
    let cores = ProcessInfo.processInfo.activeProcessorCount
    let share = max(Self.smallestShare, (items.count + cores - 1) / cores)
    guard items.count > share else { return Method.Response(results: items.map(sign)) }
    let shares = await withTaskGroup(of: (Int, [ImpressionResult]).self, returning: [Int: [ImpressionResult]].self) { group in
      for start in stride(from: 0, to: items.count, by: share) {
        group.addTask { (start, items[start..<min(start + share, items.count)].map(sign)) }
      }
      return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
    }
    return Method.Response(results: shares.sorted { $0.key < $1.key }.flatMap(\.value))
  }

  private func sign(_ item: ImpressionItem) -> ImpressionResult {
    var result = ImpressionResult()
    do throws(RPCError) {
      if let request = item.skadnetwork {
        result.skadnetwork = try skAdNetwork.sign(request)
      } else if let request = item.skadnetworkWeb {
        result.skadnetworkWeb = try web.sign(request)
      } else if let request = item.adAttributionKit {
        result.adAttributionKit = try adAttributionKit.sign(request)
      } else {
        throw .invalidArgument(field: "", "must be skadnetwork, skadnetworkWeb or adAttributionKit")
      }
    } catch {
      result.error = ItemError(code: error.code.rawValue, message: error.message, field: error.fieldViolations.first?.field)
    }
    return result
  }
}
