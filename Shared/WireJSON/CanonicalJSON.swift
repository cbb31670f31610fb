extension JSONObject {
  /// The canonical JSON text: equal objects have equal bytes, because the members of each object are sorted by the bytes of their names.
  public var canonical: [UInt8] { JSONValue.object(sorted).serialized }

  /// The object with its members, and those of nested objects, sorted.
  private var sorted: JSONObject {
    JSONObject(
      members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }.map { Member(key: $0.key, value: Self.sorted($0.value)) })
  }

  private static func sorted(_ value: JSONValue) -> JSONValue {
    switch value {
    case .object(let object): .object(object.sorted)
    case .array(let items): .array(items.map(sorted))
    default: value
    }
  }
}
