import AttributionQueue
import ServiceRuntime

/// The handlers of all methods of `ExternalPurchaseService`.
enum ReportHandlers {
  static func all(_ calls: AppStoreCalls, deliveries: DeliveryQueue, store: ReportStore) -> [any RPCHandler] {
    [
      SendExternalPurchaseReportHandler(calls: calls, deliveries: deliveries, store: store),
      GetExternalPurchaseReportHandler(calls: calls, store: store), ListExternalPurchaseReportsHandler(store: store),
      RetrieveExternalPurchaseReportHandler(calls: calls),
    ]
  }
}
