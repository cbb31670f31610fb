// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/externalpurchase/v1/external_purchase.proto`.
public struct GetExternalPurchaseReportResponse: RPCMessage, Hashable {
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
public struct ListExternalPurchaseReportsRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Returns only those in this state.
  public var state: String?
  /// Up to 1,000; default 100.
  public var maxReports: Int32?
  /// nextPageToken of the previous page.
  public var pageToken: String?

  public init(
    bundleId: String? = nil,
    state: String? = nil,
    maxReports: Int32? = nil,
    pageToken: String? = nil
  ) {
    self.bundleId = bundleId
    self.state = state
    self.maxReports = maxReports
    self.pageToken = pageToken
  }

  public init() {
    self.bundleId = nil
    self.state = nil
    self.maxReports = nil
    self.pageToken = nil
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
        case "state":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          state = try reader.readString()
        case "maxReports", "max_reports":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          maxReports = try reader.readInt32()
        case "pageToken", "page_token":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          pageToken = try reader.readString()
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
    if let state {
      writer.key("state")
      writer.string(state)
    }
    if let maxReports {
      writer.key("maxReports")
      writer.int(maxReports)
    }
    if let pageToken {
      writer.key("pageToken")
      writer.string(pageToken)
    }
    writer.endObject()
  }
}

/// See `attribution/externalpurchase/v1/external_purchase.proto`.
public struct ListExternalPurchaseReportsResponse: RPCMessage, Hashable {
  /// Newest first.
  public var reports: [ExternalPurchaseReportRecord]
  /// Absent on the last page.
  public var nextPageToken: String?

  public init(
    reports: [ExternalPurchaseReportRecord] = [],
    nextPageToken: String? = nil
  ) {
    self.reports = reports
    self.nextPageToken = nextPageToken
  }

  public init() {
    self.reports = []
    self.nextPageToken = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "reports":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          reports = try reader.readList { (reader) throws(JSONError) in try ExternalPurchaseReportRecord(reading: &reader) }
        case "nextPageToken", "next_page_token":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          nextPageToken = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !reports.isEmpty {
      writer.key("reports")
      writer.beginArray()
      for element in reports { element.write(to: &writer) }
      writer.endArray()
    }
    if let nextPageToken {
      writer.key("nextPageToken")
      writer.string(nextPageToken)
    }
    writer.endObject()
  }
}

/// See `attribution/externalpurchase/v1/external_purchase.proto`.
public struct RetrieveExternalPurchaseReportRequest: RPCMessage, Hashable {
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

/// See `attribution/externalpurchase/v1/external_purchase.proto`.
public struct RetrieveExternalPurchaseReportResponse: RPCMessage, Hashable {
  /// Apple's answer, unchanged; its report is the one that was sent.
  public var response: JSONObject?
  /// The environment that answered.
  public var environment: String

  public init(
    response: JSONObject? = nil,
    environment: String = ""
  ) {
    self.response = response
    self.environment = environment
  }

  public init() {
    self.response = nil
    self.environment = ""
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "response":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          response = try reader.readObjectValue()
        case "environment":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let response {
      writer.key("response")
      writer.object(response)
    }
    if !environment.isEmpty {
      writer.key("environment")
      writer.string(environment)
    }
    writer.endObject()
  }
}
