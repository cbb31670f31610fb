public import WireJSON

/// The meaning of a postback's conversion value by the app's schemas (``ConversionSchemas``), or why it has none.
public enum ConversionReading: Sendable, Hashable {
  /// The postback has no value, because it was withheld for privacy or never set. That is not the value zero.
  case unknown
  /// A development postback of an app that does not count them. Any device in Developer Mode can make such a postback.
  case development
  /// No applicable version gives the value a meaning.
  case unmapped
  /// All applicable versions agree. `schema` is the newest of them.
  case decoded(ConversionMeaning, schema: String)
  /// The applicable versions disagree. All of their meanings are listed, and none of them counts.
  case ambiguous([Alternative])

  /// One of several possible meanings.
  public struct Alternative: Sendable, Hashable {
    /// The version of the schema; nil for the time before the first version.
    public let schema: String?
    /// Nil if that version gives the value no meaning.
    public let meaning: ConversionMeaning?
  }

  /// The format in events: `status`, and depending on it `event`, `revenue` (`min`, `max`, `currency`) and `schema`, or `alternatives`.
  public var json: JSONObject {
    switch self {
    case .unknown: return ["status": "unknown"]
    case .development: return ["status": "development"]
    case .unmapped: return ["status": "unmapped"]
    case .decoded(let meaning, let schema):
      var object: JSONObject = ["status": "decoded"]
      for member in meaning.json.members { object[member.key] = member.value }
      object["schema"] = .string(schema)
      return object
    case .ambiguous(let alternatives):
      return [
        "status": "ambiguous",
        "alternatives": .array(
          alternatives.map { alternative in
            var object = alternative.meaning?.json ?? [:]
            object["schema"] = alternative.schema.map { .string($0) }
            return .object(object)
          }),
      ]
    }
  }
}
