import AppStore
import AttributionProtocol
import ServiceRuntime

/// `GetExternalPurchaseReport`: the state of a report that was sent through this service.
struct GetExternalPurchaseReportHandler: RPCHandler {
  typealias Method = ExternalPurchaseService.GetExternalPurchaseReport
  let calls: AppStoreCalls
  let store: ReportStore

  func handle(_ request: GetExternalPurchaseReportRequest, _ context: RPCContext) async throws(RPCError)
    -> GetExternalPurchaseReportResponse
  {
    let app = try calls.app(request.bundleId)
    let server = try calls.requiredServer(request.environment, of: app)
    let id = try RetentionCalls.checked { () throws(RequestRefusal) in try ExternalPurchaseReport.identifier(request.requestIdentifier) }
    return GetExternalPurchaseReportResponse(
      report: ExternalPurchaseReportRecord(
        try await store.known(ReportStore.Name(bundleId: app.bundleId, server: server, requestIdentifier: id))))
  }
}
