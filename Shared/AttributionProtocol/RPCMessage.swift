public import WireJSON

/// A message of the contract in its JSON form.
public protocol RPCMessage: Sendable {
  init()
  /// Reads the message; unknown, repeated and ill-typed fields throw an error with their path.
  init(reading reader: inout JSONReader) throws(JSONError)
  /// Writes the message; absent and default values are left out.
  func write(to writer: inout JSONWriter)
}

extension RPCMessage {
  /// Reads one whole document.
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
