// Made by Generator/generate.py from the contract; change the .proto file instead.

public import AttributionProtocol

/// Reports external purchase tokens to Apple. requestIdentifier in a report identifies it: the report is stored until Apple accepts or refuses it,
/// and is never accepted twice. Served by notification-recovery.
public struct ExternalPurchaseServiceClient: Sendable {
  /// The client that makes the calls.
  public let rpc: RPCClient

  public init(_ rpc: RPCClient) { self.rpc = rpc }

  /// Apple: Send External Purchase Report. Stores the report, then waits for Apple's answer. Retries continue in the background.
  public func sendExternalPurchaseReport(_ request: SendExternalPurchaseReportRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> SendExternalPurchaseReportResponse
  {
    try await rpc.call(ExternalPurchaseService.SendExternalPurchaseReport.self, request, options)
  }

  /// The state of a report that was sent with SendExternalPurchaseReport.
  public func getExternalPurchaseReport(_ request: GetExternalPurchaseReportRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> GetExternalPurchaseReportResponse
  {
    try await rpc.call(ExternalPurchaseService.GetExternalPurchaseReport.self, request, options)
  }

  /// The reports that were sent with SendExternalPurchaseReport, newest first.
  public func listExternalPurchaseReports(_ request: ListExternalPurchaseReportsRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> ListExternalPurchaseReportsResponse
  {
    try await rpc.call(ExternalPurchaseService.ListExternalPurchaseReports.self, request, options)
  }

  /// Apple: Retrieve External Purchase Report: Apple's copy of the report with an identifier.
  public func retrieveExternalPurchaseReport(_ request: RetrieveExternalPurchaseReportRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> RetrieveExternalPurchaseReportResponse
  {
    try await rpc.call(ExternalPurchaseService.RetrieveExternalPurchaseReport.self, request, options)
  }
}
