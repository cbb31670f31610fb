public import WireJSON

/// What a postback's conversion value says, as far as it can be known.
public enum ConversionReading: Sendable, Hashable {
  /// The postback has none: withheld by privacy or never set. Never zero.
  case unknown
  /// The postback is a development one, and the app does not count those: any device in Developer Mode makes them.
  case development
  /// A value that no version in question gives a meaning.
  case unmapped
  case decoded(ConversionMeaning, schema: String)
  /// Versions in question differ: all their meanings, and credit for none. A nil meaning is that of a version without one, or of the
  /// time before the first version.
  case ambiguous([Alternative])

  public struct Alternative: Sendable, Hashable {
    /// Nil before the first version.
    public let schema: String?
    public let meaning: ConversionMeaning?
  }

  /// As the event carries it: `status`, and by it `event`, `revenue` (`min`, `max`, `currency`) and `schema`, or `alternatives`.
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

/// Every version of an app's conversion values.
public struct ConversionSchemas: Sendable, Hashable {
  /// How long before its postback a device may have applied a value: the end of the last window, 35 days, milliseconds.
  public static let span: Int64 = 35 * 86_400_000

  /// In the order of their times.
  private let versions: [ConversionSchema]

  /// Throws ``FieldError`` (`[i].effectiveFrom`, `[i].version`) for two versions of one time or name.
  public init(_ versions: [ConversionSchema]) throws(FieldError) {
    for (index, version) in versions.enumerated() {
      for other in versions[..<index] {
        guard other.effectiveFrom != version.effectiveFrom else {
          throw FieldError(field: "[\(index)].effectiveFrom", reason: "is that of another version")
        }
        guard other.version != version.version else {
          throw FieldError(field: "[\(index)].version", reason: "is that of another version")
        }
      }
    }
    self.versions = versions.sorted { $0.effectiveFrom < $1.effectiveFrom }
  }

  /// Reads the values of a postback that was received at a time, milliseconds since 1970.
  ///
  /// Every version in force at any moment of the 35 days before counts: the device does not say under which one it set the value.
  ///
  /// - Parameter window: the postback's sequence index; 0 for versions that have none.
  public func reading(fine: Int?, coarse: CoarseConversionValue?, window: Int, receivedAt: Int64) -> ConversionReading {
    guard fine != nil || coarse != nil else { return .unknown }
    let alternatives = inForce(from: receivedAt - Self.span, to: receivedAt).map { version in
      ConversionReading.Alternative(
        schema: version?.version, meaning: version?.meaning(fine: fine, coarse: coarse, window: window))
    }
    guard let newest = alternatives.last else { return .unmapped }
    guard alternatives.allSatisfy({ $0.meaning == newest.meaning }) else { return .ambiguous(alternatives) }
    guard let meaning = newest.meaning, let schema = newest.schema else { return .unmapped }
    return .decoded(meaning, schema: schema)
  }

  /// The versions in force at some moment from one time to another, both included, oldest first; nil stands for the time before the
  /// first one.
  func inForce(from start: Int64, to end: Int64) -> [ConversionSchema?] {
    let later = versions.filter { $0.effectiveFrom > start && $0.effectiveFrom <= end }
    return [versions.last { $0.effectiveFrom <= start }] + later
  }
}
