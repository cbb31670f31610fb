// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/retention/v1/retention.proto`.
public struct GetRetentionPerformanceTestResponse: RPCMessage, Hashable {
  /// PENDING, PASS or FAIL; other values from Apple unchanged.
  public var result: String
  /// Apple's answer, unchanged: config, target, successRate, numPending, responseTimes, failures.
  public var response: JSONObject?
  /// The environment that answered.
  public var environment: String

  public init(
    result: String = "",
    response: JSONObject? = nil,
    environment: String = ""
  ) {
    self.result = result
    self.response = response
    self.environment = environment
  }

  public init() {
    self.result = ""
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
        case "result":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          result = try reader.readString()
        case "response":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          response = try reader.readObjectValue()
        case "environment":
          try seen.insert(2, key)
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
    if !result.isEmpty {
      writer.key("result")
      writer.string(result)
    }
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
