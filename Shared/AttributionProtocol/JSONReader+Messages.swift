public import WireJSON

/// The functions with which generated messages are read. A message with an unknown field is refused (`JSONError.Kind.unknownField`), because
/// a misspelt field must not change what is signed. Apple's own objects may have any members; `readObjectValue()` reads them.
/// The contract has no map fields: objects with any members are `google.protobuf.Struct`.
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

  /// Reads any object, such as Apple's own.
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
