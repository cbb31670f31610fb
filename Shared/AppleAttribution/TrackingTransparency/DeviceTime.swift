import WireJSON

/// Reads the times that devices state, as SDKs write them. It counts the days of the Gregorian calendar itself and needs no calendar library.
///
/// A time that cannot be read is nil, and the time of receipt takes its place. So is a time before 2020: iOS has App Tracking Transparency
/// since that year, so the time is a default, or one of another calendar, or counts from another year.
public enum DeviceTime {
  /// Numbers in this range are seconds since 1970, others milliseconds: no device states a time of the years 1970 to 1973.
  private static let seconds: Range<Double> = 1e9..<1e11

  /// 2020-01-01T00:00:00Z, milliseconds since 1970.
  private static let earliest: Int64 = 1_577_836_800_000

  /// The milliseconds since 1970 that a JSON value states; nil if it is absent or cannot be read.
  public static func milliseconds(_ value: JSONValue?) -> Int64? {
    switch value {
    case .number(let number): milliseconds(number)
    case .string(let text): milliseconds(text)
    default: nil
    }
  }

  private static func milliseconds(_ number: JSONNumber) -> Int64? {
    let value = number.double
    guard (0..<1e16).contains(value) else { return nil }
    let milliseconds = Int64(seconds.contains(value) ? value * 1000 : value)
    return milliseconds < earliest ? nil : milliseconds
  }

  /// The milliseconds since 1970 of a time such as `2026-09-10T08:00:00.250+02:00`, or of a number; nil for another text. The offset may be
  /// written `+0200`, `+02` or `Z+0200`, where the Z has no meaning, and the digits may be those of any script. Digits after the milliseconds
  /// are dropped.
  public static func milliseconds(_ text: String) -> Int64? {
    let text = text.utf8.allSatisfy({ $0 < 0x80 }) ? text : withASCIIDigits(text)
    if case .number(let number)? = try? JSONValue(parsing: text) { return milliseconds(number) }
    return calendarTime(text)
  }

  private static func withASCIIDigits(_ text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar.properties.numericType == .decimal, let value = scalar.properties.numericValue, let digit = UInt8(exactly: value) {
        result.append(Unicode.Scalar(UInt8(ascii: "0") + digit))
      } else {
        result.append(scalar)
      }
    }
    return String(result)
  }

  private static func calendarTime(_ text: String) -> Int64? {
    var rest = Array(text.utf8)[...]
    /// Reads a number of exactly `count` digits.
    func digits(_ count: Int) -> Int64? {
      guard rest.count >= count else { return nil }
      var value: Int64 = 0
      for byte in rest.prefix(count) {
        guard (48...57).contains(byte) else { return nil }
        value = value * 10 + Int64(byte - 48)
      }
      rest = rest.dropFirst(count)
      return value
    }
    /// Reads one of the given characters.
    func take(_ characters: String) -> UInt8? {
      guard let first = rest.first, characters.utf8.contains(first) else { return nil }
      rest = rest.dropFirst()
      return first
    }
    guard let year = digits(4), take("-") != nil, let month = digits(2), take("-") != nil, let day = digits(2),
      take("Tt ") != nil, let hour = digits(2), take(":") != nil, let minute = digits(2), take(":") != nil,
      let second = digits(2), year >= 1, (1...12).contains(month), day >= 1, day <= length(ofMonth: month, year: year),
      hour < 24, minute < 60, second <= 60
    else { return nil }
    var fraction: Int64 = 0
    if take(".,") != nil {
      var scale: Int64 = 100
      guard let first = rest.first, (48...57).contains(first) else { return nil }
      while let byte = rest.first, (48...57).contains(byte) {
        fraction += Int64(byte - 48) * scale
        scale /= 10
        rest = rest.dropFirst()
      }
    }
    var offset: Int64 = 0
    if take("Zz") == nil || !rest.isEmpty {
      // A decoder of forms writes a blank for `+`.
      let blank = take(" ")
      guard let sign = take("+-") ?? blank, let hours = digits(2), hours < 24 else { return nil }
      _ = take(":")
      guard let minutes = rest.isEmpty ? 0 : digits(2), minutes < 60 else { return nil }
      offset = (hours * 60 + minutes) * (sign == UInt8(ascii: "-") ? -60 : 60)
    }
    guard rest.isEmpty else { return nil }
    let seconds = days(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second - offset
    let milliseconds = seconds * 1000 + fraction
    return milliseconds < earliest ? nil : milliseconds
  }

  private static func length(ofMonth month: Int64, year: Int64) -> Int64 {
    switch month {
    case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The days since 1970-01-01. Here years begin in March, so that the leap day is the last day of a year.
  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }
}
