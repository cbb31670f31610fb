// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/advancedcommerce/v1/advanced_commerce.proto`.
public struct GetAdvancedCommerceCallRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Production or Sandbox: only a call in that environment. Both if absent.
  public var environment: String?
  public var requestReferenceId: String?

  public init(
    bundleId: String? = nil,
    environment: String? = nil,
    requestReferenceId: String? = nil
  ) {
    self.bundleId = bundleId
    self.environment = environment
    self.requestReferenceId = requestReferenceId
  }

  public init() {
    self.bundleId = nil
    self.environment = nil
    self.requestReferenceId = nil
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
        case "requestReferenceId", "request_reference_id":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          requestReferenceId = try reader.readString()
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
    if let requestReferenceId {
      writer.key("requestReferenceId")
      writer.string(requestReferenceId)
    }
    writer.endObject()
  }
}

/// See `attribution/advancedcommerce/v1/advanced_commerce.proto`.
public struct GetAdvancedCommerceCallResponse: RPCMessage, Hashable {
  public var call: AdvancedCommerceCall?

  public init(
    call: AdvancedCommerceCall? = nil
  ) {
    self.call = call
  }

  public init() {
    self.call = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "call":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          call = try AdvancedCommerceCall(reading: &reader)
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let call {
      writer.key("call")
      call.write(to: &writer)
    }
    writer.endObject()
  }
}

/// See `attribution/advancedcommerce/v1/advanced_commerce.proto`.
public struct ListAdvancedCommerceCallsRequest: RPCMessage, Hashable {
  public var bundleId: String?
  /// Up to 1,000; default 100.
  public var maxCalls: Int32?
  /// nextPageToken of the previous page.
  public var pageToken: String?

  public init(
    bundleId: String? = nil,
    maxCalls: Int32? = nil,
    pageToken: String? = nil
  ) {
    self.bundleId = bundleId
    self.maxCalls = maxCalls
    self.pageToken = pageToken
  }

  public init() {
    self.bundleId = nil
    self.maxCalls = nil
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
        case "maxCalls", "max_calls":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          maxCalls = try reader.readInt32()
        case "pageToken", "page_token":
          try seen.insert(2, key)
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
    if let maxCalls {
      writer.key("maxCalls")
      writer.int(maxCalls)
    }
    if let pageToken {
      writer.key("pageToken")
      writer.string(pageToken)
    }
    writer.endObject()
  }
}

/// See `attribution/advancedcommerce/v1/advanced_commerce.proto`.
public struct ListAdvancedCommerceCallsResponse: RPCMessage, Hashable {
  /// Newest first, without answers and notifications; GetAdvancedCommerceCall returns those.
  public var calls: [AdvancedCommerceCall]
  /// Absent on the last page.
  public var nextPageToken: String?

  public init(
    calls: [AdvancedCommerceCall] = [],
    nextPageToken: String? = nil
  ) {
    self.calls = calls
    self.nextPageToken = nextPageToken
  }

  public init() {
    self.calls = []
    self.nextPageToken = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "calls":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          calls = try reader.readList { (reader) throws(JSONError) in try AdvancedCommerceCall(reading: &reader) }
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
    if !calls.isEmpty {
      writer.key("calls")
      writer.beginArray()
      for element in calls { element.write(to: &writer) }
      writer.endArray()
    }
    if let nextPageToken {
      writer.key("nextPageToken")
      writer.string(nextPageToken)
    }
    writer.endObject()
  }
}
