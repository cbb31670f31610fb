import AppleAttribution
import AttributionProtocol
import ServiceRuntime

/// Judges many things on all cores; the verdicts stand in the order of the questions.
struct VerifyBatchHandler: RPCHandler {
  typealias Method = VerifierService.VerifyBatch
  let verdicts: Verdicts

  func handle(_ request: VerifyBatchRequest, _ context: RPCContext) async throws(RPCError) -> VerifyBatchResponse {
    guard request.items.count <= context.limits.batchItems else {
      throw .invalidArgument(field: "items", "must hold \(context.limits.batchItems) items at the most")
    }
    let items = request.items
    var impressions: ImpressionVerifier?
    if items.contains(where: { $0.skadnetworkImpression != nil || $0.adAttributionKitImpression != nil }) {
      impressions = try await verdicts.impressions.verifier()
    }
    let verifier = impressions
    let width = 32
    var results = [VerifyResult](repeating: VerifyResult(), count: items.count)
    await withTaskGroup(of: (Int, [VerifyResult]).self) { group in
      for start in stride(from: 0, to: items.count, by: width) {
        group.addTask {
          (start, items[start..<min(start + width, items.count)].map { judge($0, verifier) })
        }
      }
      for await (start, part) in group { results.replaceSubrange(start..<start + part.count, with: part) }
    }
    return VerifyBatchResponse(results: results)
  }

  private func judge(_ item: VerifyItem, _ impressions: ImpressionVerifier?) -> VerifyResult {
    var result = VerifyResult()
    do throws(RPCError) {
      if let question = item.skadnetworkPostback {
        result.skadnetworkPostback = try verdicts.judge(question)
      } else if let question = item.adAttributionKitPostback {
        result.adAttributionKitPostback = try verdicts.judge(question)
      } else if let question = item.appStoreSignedData {
        result.appStoreSignedData = try verdicts.judge(question)
      } else if let question = item.skadnetworkImpression, let impressions {
        result.skadnetworkImpression = verdicts.judge(question, with: impressions)
      } else if let question = item.adAttributionKitImpression, let impressions {
        result.adAttributionKitImpression = try verdicts.judge(question, with: impressions)
      } else {
        throw .invalidArgument(
          field: "",
          "an item names its kind: skadnetworkPostback, adAttributionKitPostback, appStoreSignedData, skadnetworkImpression or adAttributionKitImpression"
        )
      }
    } catch {
      result.error = ItemError(
        code: error.code.rawValue, message: error.message, field: error.fieldViolations.first?.field)
    }
    return result
  }
}
