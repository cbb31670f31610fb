import AttributionProtocol
import WireJSON

extension RPCMessage {
  /// Parses a response and ignores up to 64 fields that a newer server has added. The initializers of messages refuse unknown fields, as
  /// servers need it; so each unknown field is removed, and the response is parsed again.
  init(response bytes: [UInt8]) throws(JSONError) {
    let limits = JSONLimits(depth: 64, values: 1_000_000)
    var bytes = bytes
    var remaining = 64
    while true {
      do throws(JSONError) {
        self = try Self(json: bytes, limits: limits)
        return
      } catch {
        guard error.kind == .unknownField, remaining > 0 else { throw error }
        remaining -= 1
        var document = try JSONValue(parsing: bytes, limits: limits)
        guard document.remove(at: error.path) else { throw error }
        bytes = document.serialized
      }
    }
  }
}

extension JSONValue {
  /// Removes the member at a path such as `items[3].name`, in all elements of a list and not only in the named one, because the others
  /// usually have the member too. Returns false if there is none.
  mutating func remove(at path: String) -> Bool {
    let names = path.split(whereSeparator: { $0 == "." || $0 == "[" }).filter { !$0.hasSuffix("]") }.map(String.init)
    return remove(names[...])
  }

  private mutating func remove(_ names: ArraySlice<String>) -> Bool {
    guard let name = names.first else { return false }
    switch self {
    case .array(var elements):
      var removed = false
      for index in elements.indices where elements[index].remove(names) { removed = true }
      self = .array(elements)
      return removed
    case .object(var object):
      guard var member = object[name] else { return false }
      if names.count == 1 {
        object[name] = nil
      } else {
        guard member.remove(names.dropFirst()) else { return false }
        object[name] = member
      }
      self = .object(object)
      return true
    default: return false
    }
  }
}
