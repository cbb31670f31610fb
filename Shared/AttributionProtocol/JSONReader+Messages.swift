public import WireJSON

/// The functions with which generated messages read lists, objects and times.
///
/// The generated messages refuse an unknown field with `JSONError.Kind.unknownField`, because a misspelt field must not change what is
/// signed. The server answers `invalid_argument` with the field's name (``RPCError/invalidArgument(_:)``). Objects with any members, such
/// as Apple's own, are `google.protobuf.Struct` in the contract, and are read with ``readObjectValue()``. The contract has no map fields.
extension JSONReader {
  /// Reads a list; the path of an element's error contains its index.
  public mutating func readList<Element>(
    _ element: (inout JSONReader) throws(JSONError) -> Element
  ) throws(JSONError) -> [Element] {
    var list: [Element] = []
    try beginArray()
    while try nextElement() {
      do { list.append(try element(&self)) } catch { throw error.inside("[\(list.count)]") }
    }
    return list
  }

  /// Reads an object with any members.
  public mutating func readObjectValue() throws(JSONError) -> JSONObject {
    guard try peek() == .object else { throw JSONError(.wrongType(expected: "an object")) }
    guard case .object(let object) = try readValue() else { throw JSONError(.wrongType(expected: "an object")) }
    return object
  }

  /// Reads a time in the format of RFC 3339.
  public mutating func readTimestamp() throws(JSONError) -> Timestamp {
    guard let time = Timestamp(text: try readString()) else {
      throw JSONError(.outOfRange("must be an RFC 3339 time, such as 2026-11-21T08:00:00Z"))
    }
    return time
  }
}
