import AppStore
import AttributionProtocol
import ServiceRuntime

/// Calls Apple's endpoint Retrieve External Purchase Report.
struct RetrieveExternalPurchaseReportHandler: RPCHandler {
  typealias Method = ExternalPurchaseService.RetrieveExternalPurchaseReport
  let calls: AppStoreCalls

  func handle(_ request: RetrieveExternalPurchaseReportRequest, _ context: RPCContext) async throws(RPCError)
    -> RetrieveExternalPurchaseReportResponse
  {
    let app = try calls.app(request.bundleId)
    let server = try calls.requiredServer(request.environment, of: app)
    let id = try RetentionCalls.checked { () throws(RequestRefusal) in try ExternalPurchaseReport.identifier(request.requestIdentifier) }
    do throws(RPCError) {
      let response = try await calls.ask(.retrieveExternalPurchaseReport, app: app, server: server, path: [id], context)
      return RetrieveExternalPurchaseReportResponse(response: response.body, environment: response.server.rawValue)
    } catch {
      // Apple answers 400 for an unknown report. Another cause is not possible, because the format of the identifier was checked before.
      guard error.code == .invalidArgument, error.reason == RPCError.refusedByApple else { throw error }
      throw .notFound("Apple has no report with this requestIdentifier", field: "requestIdentifier")
    }
  }
}
