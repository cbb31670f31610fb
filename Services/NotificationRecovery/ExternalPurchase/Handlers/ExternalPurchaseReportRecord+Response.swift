import AttributionProtocol
import RedisClient
import WireJSON

extension ReportStore {
  /// Reads the report that a caller names. Throws `NOT_FOUND` if there is none.
  func known(_ name: Name) async throws(RPCError) -> ReportRecord {
    do throws(RedisError) {
      if let record = try await record(name) { return record }
    } catch { throw RPCError(error) }
    throw .notFound("no report was sent with this requestIdentifier", field: "requestIdentifier")
  }
}

extension ExternalPurchaseReportRecord {
  init(_ record: ReportRecord) {
    self.init()
    requestIdentifier = record.requestIdentifier
    externalPurchaseId = record.body["externalPurchaseId"]?.stringValue ?? ""
    bundleId = record.bundleId
    environment = record.server.rawValue
    status = record.body["status"]?.stringValue ?? ""
    lineItems = record.body["lineItems"]?.arrayValue.map { Int32(clamping: $0.count) }
    state = record.state.rawValue
    attempts = Int32(clamping: record.attempts)
    receivedAt = Timestamp(millisecondsSince1970: record.receivedAt)
    completedAt = record.completedAt.map { Timestamp(millisecondsSince1970: $0) }
    lastError = record.lastError
    errors = record.errors.map { error in
      ExternalPurchaseReportError(
        errorCode: error["errorCode"]?.int64Value, errorMessage: error["errorMessage"]?.stringValue ?? "",
        fieldName: error["fieldName"]?.stringValue, lineItemId: error["lineItemId"]?.stringValue)
    }
  }
}
