import Synchronization
import WireJSON

/// The *External Purchase Server API*: checks reports and stores them by their identifiers.
final class ExternalPurchaseReports: Sendable {
  private let reports = Mutex<[String: JSONObject]>([:])

  func reset() { reports.withLock { $0 = [:] } }

  /// `environment/bundle/identifier`.
  private static func key(_ call: AppStoreServerAPI.Call, _ id: String) -> String {
    "\(call.environment.rawValue)/\(call.app.bundleID)/\(id.lowercased())"
  }

  /// *Send External Purchase Report*.
  func send(_ call: AppStoreServerAPI.Call) throws -> SimulatedResponse {
    guard let body = (try? JSONValue(parsing: call.request.body))?.objectValue,
      let id = body["requestIdentifier"]?.stringValue, isUUID(id), let token = body["externalPurchaseId"]?.stringValue,
      token.hasPrefix("SANDBOX") == (call.environment == .sandbox), let status = body["status"]?.stringValue
    else { return .empty(400) }
    var errors: [JSONValue] = []
    func wrong(_ message: String, _ field: String, _ line: JSONValue? = nil) {
      var error: JSONObject = ["errorMessage": .string(message), "fieldName": .string(field)]
      error["lineItemId"] = line?["lineItemId"]
      errors.append(.object(error))
    }
    let lines = body["lineItems"]?.arrayValue ?? []
    if status == "LINE_ITEM", lines.isEmpty { wrong("Line items are missing.", "lineItems") }
    if status != "LINE_ITEM", body["lineItems"] != nil { wrong("Line items are not allowed for the status.", "lineItems") }
    for line in lines {
      func number(_ name: String) -> Int64 { line[name]?.int64Value ?? -1 }
      for name in ["amountTaxExclusive", "amountTaxInclusive", "taxAmount", "netAmountTaxExclusive"] where number(name) < 0 {
        wrong("The field does not allow a negative value.", name, line)
      }
      if number("amountTaxExclusive") + number("taxAmount") != number("amountTaxInclusive") {
        wrong("The tax exclusive amount plus the tax amount does not equal the tax inclusive amount.", "amountTaxInclusive", line)
      }
      guard line["eventType"]?.stringValue == "REFUND" else { continue }
      guard let purchase = purchase(of: line["referenceLineItemId"]?.stringValue ?? "", call, lines) else {
        wrong("The referenced value was not found.", "referenceLineItemId", line)
        continue
      }
      if (purchase["creationDate"]?.int64Value ?? 0) > number("creationDate") {
        errors.append([
          "errorCode": 31,
          "errorMessage": "The referenced line item has a creation date after the line item's creation date.",
          "fieldName": "creationDate", "lineItemId": line["lineItemId"] ?? .null,
        ])
      }
    }
    if isKnown(id, call) { wrong("The value is already submitted.", "requestIdentifier") }
    guard errors.isEmpty else { return .json(["errors": .array(errors)], status: 400) }
    reports.withLock { $0[Self.key(call, id)] = body }
    return .json(["requestIdentifier": .string(id)])
  }

  private func isKnown(_ id: String, _ call: AppStoreServerAPI.Call) -> Bool {
    reports.withLock { $0[Self.key(call, id)] != nil }
  }

  /// The line item of the purchase with this lineItemId, in the same report or in an earlier one.
  private func purchase(of line: String, _ call: AppStoreServerAPI.Call, _ lines: [JSONValue]) -> JSONValue? {
    let prefix = Self.key(call, "")
    let known = reports.withLock { reports in
      reports.filter { $0.key.hasPrefix(prefix) }.values.flatMap { $0["lineItems"]?.arrayValue ?? [] }
    }
    return (lines + known).first { $0["lineItemId"]?.stringValue == line && $0["eventType"]?.stringValue == "BUY" }
  }

  /// *Retrieve External Purchase Report*.
  func retrieve(_ call: AppStoreServerAPI.Call) throws -> SimulatedResponse {
    guard let report = reports.withLock({ $0[Self.key(call, call.values[0])] }) else {
      return .json(["errorMessage": "The referenced value was not found.", "fieldName": "requestIdentifier"], status: 400)
    }
    return .json(["report": .object(report)])
  }

  /// `GET /control/external-purchase-reports`.
  func state() -> JSONValue {
    reports.withLock { reports in ["reports": .array(reports.sorted { $0.key < $1.key }.map { .object($0.value) })] }
  }
}
