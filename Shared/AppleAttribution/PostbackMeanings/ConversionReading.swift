public import WireJSON

/// The meaning of a postback's conversion value.
public enum ConversionReading: Sendable, Hashable {
  /// The postback has no value: it was withheld for privacy, or never set. It is not zero.
  case unknown
  /// A development postback of an app that does not count those, because any device in Developer Mode can make them.
  case development
  /// A value without a meaning in all applicable versions.
  case unmapped
  case decoded(ConversionMeaning, schema: String)
  /// The applicable versions disagree. All meanings are listed and none counts. A meaning is nil if its version has none, or for the time
  /// before the first version.
  case ambiguous([Alternative])

  public struct Alternative: Sendable, Hashable {
    /// The version; nil before the first one.
    public let schema: String?
    public let meaning: ConversionMeaning?
  }

  /// The form in events: `status`, and depending on it `event`, `revenue` (`min`, `max`, `currency`) and `schema`, or `alternatives`.
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
