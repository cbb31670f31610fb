import WireJSON

/// What a conversion value means in an app: an event, and the revenue that it stands for.
public struct ConversionMeaning: Sendable, Hashable {
  /// A range of revenue, in units of the currency.
  public struct Revenue: Sendable, Hashable {
    public let minimum: Double
    public let maximum: Double
    /// ISO 4217, in upper case.
    public let currency: String

    /// Throws ``FieldError`` for a reversed or negative range, or an invalid currency code.
    public init(minimum: Double, maximum: Double, currency: String) throws(FieldError) {
      guard minimum.isFinite, minimum >= 0 else { throw FieldError(field: "min", reason: "must be 0 or more") }
      guard maximum.isFinite, maximum >= minimum else { throw FieldError(field: "max", reason: "must not be below min") }
      guard currency.utf8.count == 3, currency.utf8.allSatisfy({ (65...90).contains($0) }) else {
        throw FieldError(field: "currency", reason: "must be three capital letters")
      }
      self.minimum = minimum
      self.maximum = maximum
      self.currency = currency
    }
  }

  /// The app's name of the event.
  public let event: String
  public let revenue: Revenue?

  /// Throws ``FieldError`` for an event whose name is empty or too long.
  public init(event: String, revenue: Revenue? = nil) throws(FieldError) {
    guard (1...128).contains(event.utf8.count) else { throw FieldError(field: "event", reason: "must be 1 to 128 bytes") }
    self.event = event
    self.revenue = revenue
  }

  /// The format in events.
  var json: JSONObject {
    var object: JSONObject = ["event": .string(event)]
    if let revenue {
      object["revenue"] = [
        "min": JSONNumber(revenue.minimum).map { .number($0) } ?? .null, "max": JSONNumber(revenue.maximum).map { .number($0) } ?? .null,
        "currency": .string(revenue.currency),
      ]
    }
    return object
  }
}

/// One version of an app's conversion schema: the meanings of its conversion values from a time on (Receiving postbacks in multiple
/// conversion windows).
public struct ConversionSchema: Sendable, Hashable {
  /// The configured name of the version.
  public let version: String
  /// The start of the version's validity, milliseconds since 1970.
  public let effectiveFrom: Int64
  /// The meanings of the 64 fine values, which are sent in the first window only.
  private let fine: [ConversionMeaning?]
  /// The meanings by window and coarse value.
  private let coarse: [[CoarseConversionValue: ConversionMeaning]]

  /// Throws ``FieldError`` for a value that is out of range or has two meanings. The field is `fine[i].values`, `coarse[i].value` or
  /// `coarse[i].windows`.
  public init(
    version: String, effectiveFrom: Int64, fine ranges: [(ClosedRange<Int>, ConversionMeaning)],
    coarse values: [(CoarseConversionValue, windows: [Int], ConversionMeaning)]
  ) throws(FieldError) {
    guard !version.isEmpty else { throw FieldError(field: "version", reason: "is required") }
    guard effectiveFrom > 0 else { throw FieldError(field: "effectiveFrom", reason: "must be after 1970") }
    var fine = [ConversionMeaning?](repeating: nil, count: 64)
    for (index, (range, meaning)) in ranges.enumerated() {
      let field = "fine[\(index)].values"
      guard range.lowerBound >= 0, range.upperBound <= 63 else { throw FieldError(field: field, reason: "must lie within 0 to 63") }
      for value in range {
        guard fine[value] == nil else { throw FieldError(field: field, reason: "gives \(value) a second meaning") }
        fine[value] = meaning
      }
    }
    var coarse = [[CoarseConversionValue: ConversionMeaning]](repeating: [:], count: 3)
    for (index, (value, windows, meaning)) in values.enumerated() {
      for window in windows {
        guard (0...2).contains(window) else { throw FieldError(field: "coarse[\(index)].windows", reason: "must contain only 0, 1 and 2") }
        guard coarse[window][value] == nil else {
          throw FieldError(field: "coarse[\(index)].value", reason: "already has a meaning in window \(window)")
        }
        coarse[window][value] = meaning
      }
    }
    self.version = version
    self.effectiveFrom = effectiveFrom
    self.fine = fine
    self.coarse = coarse
  }

  /// The meaning of a value; nil if it has none in this version. A fine value takes precedence over a coarse one. It has a meaning only in
  /// the first window: Apple does not send it in another one, and because it is not signed, a sender may have added it.
  func meaning(fine fineValue: Int?, coarse coarseValue: CoarseConversionValue?, window: Int) -> ConversionMeaning? {
    if let fineValue { return window == 0 && fine.indices.contains(fineValue) ? fine[fineValue] : nil }
    guard let coarseValue, coarse.indices.contains(window) else { return nil }
    return coarse[window][coarseValue]
  }
}
