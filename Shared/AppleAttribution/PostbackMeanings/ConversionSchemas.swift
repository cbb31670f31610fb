/// All versions of an app's conversion schema.
public struct ConversionSchemas: Sendable, Hashable {
  /// An upper bound of the time from setting a value to the receipt of its postback, milliseconds. A value of the last window is set on day 8
  /// at the earliest and sent for the first time on day 41 at the latest. If it is not answered 200, the device tries again for nine days.
  /// Three days are a margin.
  public static let span: Int64 = 45 * 86_400_000

  /// The versions by time.
  private let versions: [ConversionSchema]

  /// Throws ``FieldError`` (`[i].effectiveFrom`, `[i].version`) for two versions with the same time or name.
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

  /// The meaning of the values of a postback that was received at a time, milliseconds since 1970.
  ///
  /// All versions in force during the ``span`` before apply, because the device does not state under which one it set the value.
  ///
  /// - Parameter window: the postback's sequence index; 0 for SKAdNetwork versions without one.
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

  /// The versions in force between two times, both inclusive, oldest first; nil stands for the time before the first one.
  func inForce(from start: Int64, to end: Int64) -> [ConversionSchema?] {
    let later = versions.filter { $0.effectiveFrom > start && $0.effectiveFrom <= end }
    return [versions.last { $0.effectiveFrom <= start }] + later
  }
}
