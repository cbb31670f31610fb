// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/signer/v1/signer.proto`.
public struct ListSigningKeysResponse: RPCMessage, Hashable {
  public var keys: [SigningKeyInfo]

  public init(
    keys: [SigningKeyInfo] = []
  ) {
    self.keys = keys
  }

  public init() {
    self.keys = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "keys":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          keys = try reader.readList { (reader) throws(JSONError) in try SigningKeyInfo(reading: &reader) }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !keys.isEmpty {
      writer.key("keys")
      writer.beginArray()
      for element in keys { element.write(to: &writer) }
      writer.endArray()
    }
    writer.endObject()
  }
}
