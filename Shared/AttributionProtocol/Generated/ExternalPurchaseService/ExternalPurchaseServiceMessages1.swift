// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// Apple's error for a report, or for one of its lines.
public struct ExternalPurchaseReportError: RPCMessage, Hashable {
  /// Apple's error number.
  public var errorCode: Int64?
  public var errorMessage: String
  public var fieldName: String?
  public var lineItemId: String?

  public init(
    errorCode: Int64? = nil,
    errorMessage: String = "",
    fieldName: String? = nil,
    lineItemId: String? = nil
  ) {
    self.errorCode = errorCode
    self.errorMessage = errorMessage
    self.fieldName = fieldName
    self.lineItemId = lineItemId
  }

  public init() {
    self.errorCode = nil
    self.errorMessage = ""
    self.fieldName = nil
    self.lineItemId = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "errorCode", "error_code":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          errorCode = try reader.readInt64()
        case "errorMessage", "error_message":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          errorMessage = try reader.readString()
        case "fieldName", "field_name":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          fieldName = try reader.readString()
        case "lineItemId", "line_item_id":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          lineItemId = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let errorCode {
      writer.key("errorCode")
      writer.int64(errorCode)
    }
    if !errorMessage.isEmpty {
      writer.key("errorMessage")
      writer.string(errorMessage)
    }
    if let fieldName {
      writer.key("fieldName")
      writer.string(fieldName)
    }
    if let lineItemId {
      writer.key("lineItemId")
      writer.string(lineItemId)
    }
    writer.endObject()
  }
}

/// A report and its state.
public struct ExternalPurchaseReportRecord: RPCMessage, Hashable {
  public var requestIdentifier: String
  public var externalPurchaseId: String
  public var bundleId: String
  public var environment: String
  /// LINE_ITEM, NO_LINE_ITEM, UNRECOGNIZED_TOKEN or DUPLICATE_TOKEN.
  public var status: String
  public var lineItems: Int32?
  /// waiting (not sent yet, or will be sent again), accepted or refused.
  public var state: String
  /// The number of attempts to send it.
  public var attempts: Int32?
  public var receivedAt: Timestamp?
  public var completedAt: Timestamp?
  /// Apple's error message, if the report was refused or still waits.
  public var lastError: String?
  public var errors: [ExternalPurchaseReportError]

  public init(
    requestIdentifier: String = "",
    externalPurchaseId: String = "",
    bundleId: String = "",
    environment: String = "",
    status: String = "",
    lineItems: Int32? = nil,
    state: String = "",
    attempts: Int32? = nil,
    receivedAt: Timestamp? = nil,
    completedAt: Timestamp? = nil,
    lastError: String? = nil,
    errors: [ExternalPurchaseReportError] = []
  ) {
    self.requestIdentifier = requestIdentifier
    self.externalPurchaseId = externalPurchaseId
    self.bundleId = bundleId
    self.environment = environment
    self.status = status
    self.lineItems = lineItems
    self.state = state
    self.attempts = attempts
    self.receivedAt = receivedAt
    self.completedAt = completedAt
    self.lastError = lastError
    self.errors = errors
  }

  public init() {
    self.requestIdentifier = ""
    self.externalPurchaseId = ""
    self.bundleId = ""
    self.environment = ""
    self.status = ""
    self.lineItems = nil
    self.state = ""
    self.attempts = nil
    self.receivedAt = nil
    self.completedAt = nil
    self.lastError = nil
    self.errors = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "requestIdentifier", "request_identifier":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          requestIdentifier = try reader.readString()
        case "externalPurchaseId", "external_purchase_id":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          externalPurchaseId = try reader.readString()
        case "bundleId", "bundle_id":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "environment":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        case "status":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          status = try reader.readString()
        case "lineItems", "line_items":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          lineItems = try reader.readInt32()
        case "state":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          state = try reader.readString()
        case "attempts":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          attempts = try reader.readInt32()
        case "receivedAt", "received_at":
          try seen.insert(8, key)
          if try reader.readNull() { continue }
          receivedAt = try reader.readTimestamp()
        case "completedAt", "completed_at":
          try seen.insert(9, key)
          if try reader.readNull() { continue }
          completedAt = try reader.readTimestamp()
        case "lastError", "last_error":
          try seen.insert(10, key)
          if try reader.readNull() { continue }
          lastError = try reader.readString()
        case "errors":
          try seen.insert(11, key)
          if try reader.readNull() { continue }
          errors = try reader.readList { (reader) throws(JSONError) in try ExternalPurchaseReportError(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !requestIdentifier.isEmpty {
      writer.key("requestIdentifier")
      writer.string(requestIdentifier)
    }
    if !externalPurchaseId.isEmpty {
      writer.key("externalPurchaseId")
      writer.string(externalPurchaseId)
    }
    if !bundleId.isEmpty {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if !environment.isEmpty {
      writer.key("environment")
      writer.string(environment)
    }
    if !status.isEmpty {
      writer.key("status")
      writer.string(status)
    }
    if let lineItems {
      writer.key("lineItems")
      writer.int(lineItems)
    }
    if !state.isEmpty {
      writer.key("state")
      writer.string(state)
    }
    if let attempts {
      writer.key("attempts")
      writer.int(attempts)
    }
    if let receivedAt {
      writer.key("receivedAt")
      writer.string(receivedAt.text)
    }
    if let completedAt {
      writer.key("completedAt")
      writer.string(completedAt.text)
    }
    if let lastError {
      writer.key("lastError")
      writer.string(lastError)
    }
    if !errors.isEmpty {
      writer.key("errors")
      writer.beginArray()
      for element in errors { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// See `attribution/externalpurchase/v1/external_purchase.proto`.
public struct SendExternalPurchaseReportRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox; default: the environment of the token.
  public var environment: String?
  /// Apple's ExternalPurchaseReport.
  public var report: JSONObject?
  /// How long to wait for Apple's answer: 0 to 30,000, default 5,000.
  public var waitMilliseconds: Int32?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    report: JSONObject? = nil,
    waitMilliseconds: Int32? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.report = report
    self.waitMilliseconds = waitMilliseconds
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.report = nil
    self.waitMilliseconds = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "bundleId", "bundle_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "environment":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        case "report":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          report = try reader.readObjectValue()
        case "waitMilliseconds", "wait_milliseconds":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          waitMilliseconds = try reader.readInt32()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let bundleId {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if let environment {
      writer.key("environment")
      writer.string(environment)
    }
    if let report {
      writer.key("report")
      writer.object(report)
    }
    if let waitMilliseconds {
      writer.key("waitMilliseconds")
      writer.int(waitMilliseconds)
    }
    writer.endObject()
  }
}

/// See `attribution/externalpurchase/v1/external_purchase.proto`.
public struct SendExternalPurchaseReportResponse: RPCMessage, Hashable {
  /// Its state is `waiting` if Apple has not answered in that time; call GetExternalPurchaseReport later.
  public var report: ExternalPurchaseReportRecord?

  public init(
    report: ExternalPurchaseReportRecord? = nil
  ) {
    self.report = report
  }

  public init() {
    self.report = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "report":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          report = try ExternalPurchaseReportRecord(reading: &reader)
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let report {
      writer.key("report")
      report.write(to: &writer)
    }
    writer.endObject()
  }
}

/// See `attribution/externalpurchase/v1/external_purchase.proto`.
public struct GetExternalPurchaseReportRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox; required if the app has both.
  public var environment: String?
  public var requestIdentifier: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    requestIdentifier: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.requestIdentifier = requestIdentifier
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.requestIdentifier = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "bundleId", "bundle_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "environment":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        case "requestIdentifier", "request_identifier":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          requestIdentifier = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let bundleId {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if let environment {
      writer.key("environment")
      writer.string(environment)
    }
    if let requestIdentifier {
      writer.key("requestIdentifier")
      writer.string(requestIdentifier)
    }
    writer.endObject()
  }
}
