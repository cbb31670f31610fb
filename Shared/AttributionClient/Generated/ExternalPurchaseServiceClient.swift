// Made by Generator/generate.py from the contract; change the .proto file instead.

public import AttributionProtocol

/// Reports external purchase tokens to Apple. requestIdentifier in a report names it: the report is kept until Apple took or refused it, and never
/// taken twice. Answered by notification-recovery.
public struct ExternalPurchaseServiceClient: Sendable {
  /// What carries the calls.
  public let rpc: RPCClient

  public init(_ rpc: RPCClient) { self.rpc = rpc }

  /// Apple: Send External Purchase Report. Keeps the report, then waits for what Apple says; retries go on by themselves.
  public func sendExternalPurchaseReport(_ request: SendExternalPurchaseReportRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> SendExternalPurchaseReportResponse
  {
    try await rpc.call(ExternalPurchaseService.SendExternalPurchaseReport.self, request, options)
  }

  /// What became of a report that was sent here.
  public func getExternalPurchaseReport(_ request: GetExternalPurchaseReportRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> GetExternalPurchaseReportResponse
  {
    try await rpc.call(ExternalPurchaseService.GetExternalPurchaseReport.self, request, options)
  }

  /// The reports that were sent here, newest first.
  public func listExternalPurchaseReports(_ request: ListExternalPurchaseReportsRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> ListExternalPurchaseReportsResponse
  {
    try await rpc.call(ExternalPurchaseService.ListExternalPurchaseReports.self, request, options)
  }

  /// Apple: Retrieve External Purchase Report: what Apple has under an identifier.
  public func retrieveExternalPurchaseReport(_ request: RetrieveExternalPurchaseReportRequest, options: CallOptions = CallOptions())
    async throws(RPCError) -> RetrieveExternalPurchaseReportResponse
  {
    try await rpc.call(ExternalPurchaseService.RetrieveExternalPurchaseReport.self, request, options)
  }
}
