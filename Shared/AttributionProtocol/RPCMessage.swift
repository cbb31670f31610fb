public import WireJSON

/// A message of the contract, which is read and written as JSON (protobuf's JSON mapping).
public protocol RPCMessage: Sendable {
  init()
  /// Reads the message. An unknown or repeated field, or a value of another type, throws an error with the field's path. Only an
  /// ``OpenMessage`` accepts unknown members and values of other types.
  init(reading reader: inout JSONReader) throws(JSONError)
  /// Writes the message. Optional fields that are nil, empty lists, and required texts that are empty are left out; an optional field that
  /// is present is written, even with an empty text.
  func write(to writer: inout JSONWriter)
}

extension RPCMessage {
  /// Reads a message from a JSON document, which must contain nothing else.
  public init(json bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
    var reader = JSONReader(bytes, limits: limits)
    self = try Self(reading: &reader)
    try reader.finish()
  }

  /// The message as JSON, UTF-8.
  public var json: [UInt8] {
    var writer = JSONWriter()
    write(to: &writer)
    return writer.bytes
  }
}
