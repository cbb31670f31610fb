import AttributionProtocol
import RedisClient
import ServiceRuntime

/// `ListExternalPurchaseReports`: the reports that were sent through this service, newest first.
struct ListExternalPurchaseReportsHandler: RPCHandler {
  typealias Method = ExternalPurchaseService.ListExternalPurchaseReports
  let store: ReportStore

  func handle(_ request: ListExternalPurchaseReportsRequest, _ context: RPCContext) async throws(RPCError)
    -> ListExternalPurchaseReportsResponse
  {
    let limit = Int(request.maxReports ?? 100)
    guard (1...1000).contains(limit) else { throw .invalidArgument(field: "maxReports", "must be 1 to 1000") }
    var state: ReportRecord.State?
    if let text = request.state, !text.isEmpty {
      state = ReportRecord.State(rawValue: text)
      guard state != nil else { throw .invalidArgument(field: "state", "must be waiting, accepted or refused") }
    }
    let token = try PageToken.checked(request.pageToken)
    do throws(RedisError) {
      let page = try await store.list(bundleId: request.bundleId, state: state, limit: limit, after: token)
      return ListExternalPurchaseReportsResponse(
        reports: page.reports.map { ExternalPurchaseReportRecord($0) }, nextPageToken: page.next?.text)
    } catch { throw RPCError(error) }
  }
}
