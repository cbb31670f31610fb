/// All versions of an app's conversion schema. ``reading(fine:coarse:window:receivedAt:)`` decodes the values of a postback.
public struct ConversionSchemas: Sendable, Hashable {
  /// An upper limit of the time from the setting of a value to the receipt of its postback, milliseconds. A value of the last window is set
  /// on day 8 at the earliest, and sent for the first time on day 41 at the latest. If the response is not 200, the device tries again for
  /// nine days. Three days are a margin. The postback of SKAdNetwork 3.0 and earlier is first sent at most two days after the last value.
  public static let span: Int64 = 45 * 86_400_000

  /// The versions, oldest first.
  private let versions: [ConversionSchema]

  /// Throws ``FieldError`` with the field `[i].effectiveFrom` or `[i].version` if two versions have the same time or name.
  public init(_ versions: [ConversionSchema]) throws(FieldError) {
    for (index, version) in versions.enumerated() {
      for other in versions[..<index] {
        guard other.effectiveFrom != version.effectiveFrom else {
          throw FieldError(field: "[\(index)].effectiveFrom", reason: "must differ from that of every other version")
        }
        guard other.version != version.version else {
          throw FieldError(field: "[\(index)].version", reason: "must differ from that of every other version")
        }
      }
    }
    self.versions = versions.sorted { $0.effectiveFrom < $1.effectiveFrom }
  }

  /// The meaning of the values of a postback that was received at a time, milliseconds since 1970.
  ///
  /// A postback does not state when its value was set. So all versions that were valid in the ``span`` before the receipt apply.
  ///
  /// - Parameter window: the postback's sequence index; 0 for SKAdNetwork versions without one.
  public func reading(fine: Int?, coarse: CoarseConversionValue?, window: Int, receivedAt: Int64) -> ConversionReading {
    guard fine != nil || coarse != nil else { return .unknown }
    let alternatives = valid(from: receivedAt - Self.span, to: receivedAt).map { version in
      ConversionReading.Alternative(
        schema: version?.version, meaning: version?.meaning(fine: fine, coarse: coarse, window: window))
    }
    guard let newest = alternatives.last else { return .unmapped }
    guard alternatives.allSatisfy({ $0.meaning == newest.meaning }) else { return .ambiguous(alternatives) }
    guard let meaning = newest.meaning, let schema = newest.schema else { return .unmapped }
    return .decoded(meaning, schema: schema)
  }

  /// The versions that were valid at some time between two times, both inclusive, oldest first. Nil stands for the time before the first
  /// version.
  func valid(from start: Int64, to end: Int64) -> [ConversionSchema?] {
    let later = versions.filter { $0.effectiveFrom > start && $0.effectiveFrom <= end }
    return [versions.last { $0.effectiveFrom <= start }] + later
  }
}
