// Made by Generator/generate.py from the contract; change the .proto file instead.

/// Reports external purchase tokens to Apple. requestIdentifier in a report identifies it: the report is stored until Apple accepts or refuses it,
/// and is never accepted twice. Served by notification-recovery.
public enum ExternalPurchaseService {
  /// The full RPC name.
  public static let name = "attribution.externalpurchase.v1.ExternalPurchaseService"

  /// Every method, in the order of the contract.
  public static let methods: [any RPCMethod.Type] = [
    SendExternalPurchaseReport.self,
    GetExternalPurchaseReport.self,
    ListExternalPurchaseReports.self,
    RetrieveExternalPurchaseReport.self,
  ]

  /// Apple: Send External Purchase Report. Stores the report, then waits for Apple's answer. Retries continue in the background.
  public enum SendExternalPurchaseReport: RPCMethod {
    public typealias Request = SendExternalPurchaseReportRequest
    public typealias Response = SendExternalPurchaseReportResponse
    public static let service = ExternalPurchaseService.name
    public static let name = "SendExternalPurchaseReport"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// The state of a report that was sent with SendExternalPurchaseReport.
  public enum GetExternalPurchaseReport: RPCMethod {
    public typealias Request = GetExternalPurchaseReportRequest
    public typealias Response = GetExternalPurchaseReportResponse
    public static let service = ExternalPurchaseService.name
    public static let name = "GetExternalPurchaseReport"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// The reports that were sent with SendExternalPurchaseReport, newest first.
  public enum ListExternalPurchaseReports: RPCMethod {
    public typealias Request = ListExternalPurchaseReportsRequest
    public typealias Response = ListExternalPurchaseReportsResponse
    public static let service = ExternalPurchaseService.name
    public static let name = "ListExternalPurchaseReports"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Apple: Retrieve External Purchase Report: Apple's copy of the report with an identifier.
  public enum RetrieveExternalPurchaseReport: RPCMethod {
    public typealias Request = RetrieveExternalPurchaseReportRequest
    public typealias Response = RetrieveExternalPurchaseReportResponse
    public static let service = ExternalPurchaseService.name
    public static let name = "RetrieveExternalPurchaseReport"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(60000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }
}
