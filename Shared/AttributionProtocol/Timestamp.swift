/// A point in time, like `google.protobuf.Timestamp`. Its text is in the format of RFC 3339, with the years 1 to 9999 as in protobuf.
/// `init(seconds:nanos:)` and `init(millisecondsSince1970:)` do not check the range.
public struct Timestamp: Sendable, Hashable, Comparable {
  /// Whole seconds since 1970.
  public var seconds: Int64
  /// Nanoseconds after the second, from 0 to 999,999,999.
  public var nanos: Int32

  public init(seconds: Int64, nanos: Int32 = 0) {
    self.seconds = seconds
    self.nanos = nanos
  }

  /// Creates a timestamp from milliseconds since 1970, without a check of the range.
  public init(millisecondsSince1970 milliseconds: Int64) {
    let (quotient, remainder) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    seconds = remainder < 0 ? quotient - 1 : quotient
    nanos = Int32((remainder < 0 ? remainder + 1000 : remainder) * 1_000_000)
  }

  /// Creates a timestamp from milliseconds since 1970; nil outside the years 1 to 9999, because protobuf's timestamps have no others.
  public init?(writableMilliseconds milliseconds: Int64) {
    guard (-62_135_596_800_000...253_402_300_799_999).contains(milliseconds) else { return nil }
    self.init(millisecondsSince1970: milliseconds)
  }

  /// The time in milliseconds since 1970, rounded down.
  public var millisecondsSince1970: Int64 { seconds * 1000 + Int64(nanos / 1_000_000) }

  public static func < (a: Timestamp, b: Timestamp) -> Bool { (a.seconds, a.nanos) < (b.seconds, b.nanos) }

  /// The RFC 3339 text, such as `2026-11-21T08:00:00Z`, with 3, 6 or 9 digits of fraction if there is one.
  public var text: String {
    let days = seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400
    let inDay = seconds - days * 86_400
    let (year, month, day) = Self.date(fromDays: days)
    // The text is written digit by digit for speed: each event contains two timestamps.
    return String(unsafeUninitializedCapacity: 48) { buffer in
      var digits = DigitWriter(buffer: buffer)
      // Other years are not valid in RFC 3339, but must not be written as a wrong year.
      if (0...9999).contains(year) { digits.write(year, 4) } else { for byte in String(year).utf8 { digits.write(byte) } }
      digits.write(UInt8(ascii: "-"))
      digits.write(month, 2)
      digits.write(UInt8(ascii: "-"))
      digits.write(day, 2)
      digits.write(UInt8(ascii: "T"))
      digits.write(inDay / 3600, 2)
      digits.write(UInt8(ascii: ":"))
      digits.write(inDay / 60 % 60, 2)
      digits.write(UInt8(ascii: ":"))
      digits.write(inDay % 60, 2)
      if nanos != 0 {
        digits.write(UInt8(ascii: "."))
        if nanos % 1_000_000 == 0 {
          digits.write(Int64(nanos / 1_000_000), 3)
        } else if nanos % 1000 == 0 {
          digits.write(Int64(nanos / 1000), 6)
        } else {
          digits.write(Int64(nanos), 9)
        }
      }
      digits.write(UInt8(ascii: "Z"))
      return digits.count
    }
  }

  /// Writes characters into the buffer of a new string.
  private struct DigitWriter {
    let buffer: UnsafeMutableBufferPointer<UInt8>
    var count = 0

    mutating func write(_ byte: UInt8) {
      buffer[count] = byte
      count += 1
    }

    /// Writes the last `width` decimal digits of a value, with leading zeros.
    mutating func write(_ value: Int64, _ width: Int) {
      var rest = value
      var index = count + width
      while index > count {
        index -= 1
        buffer[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
      count += width
    }
  }

  /// Reads a text in the format of RFC 3339, such as `2026-11-21T08:00:00Z` or `2026-11-21T08:00:00.123+01:00`; nil for any other text.
  ///
  /// `t` and `z` may be lower case. Digits after nanoseconds are dropped. A leap second (60) is refused.
  public init?(text: String) {
    var rest = text.utf8[...]
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
    func skip(_ characters: StaticString) -> Bool {
      for index in 0..<characters.utf8CodeUnitCount where rest.first == characters.utf8Start[index] {
        rest = rest.dropFirst()
        return true
      }
      return false
    }
    guard let year = digits(4), skip("-"), let month = digits(2), skip("-"), let day = digits(2), skip("Tt"),
      let hour = digits(2), skip(":"), let minute = digits(2), skip(":"), let second = digits(2),
      year >= 1, (1...12).contains(month), (1...Self.days(in: month, of: year)).contains(day), hour < 24, minute < 60,
      second < 60
    else { return nil }
    var nanos: Int32 = 0
    if skip(".") {
      var scale: Int32 = 100_000_000
      var any = false
      while let byte = rest.first, (48...57).contains(byte) {
        nanos += Int32(byte - 48) * scale
        scale /= 10
        any = true
        rest = rest.dropFirst()
      }
      guard any else { return nil }
    }
    var offset: Int64 = 0
    if !skip("Zz") {
      let negative = rest.first == UInt8(ascii: "-")
      guard skip("+-"), let hours = digits(2), skip(":"), let minutes = digits(2), hours < 24, minutes < 60 else {
        return nil
      }
      offset = (hours * 3600 + minutes * 60) * (negative ? -1 : 1)
    }
    guard rest.isEmpty else { return nil }
    seconds = Self.days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
    self.nanos = nanos
  }

  private static func days(in month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  /// The days from 1970-01-01 to a date of the Gregorian calendar. Years are counted from March, so that the leap day is the last day of a
  /// year. The calendar repeats after an era of 400 years (146,097 days).
  private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  /// The inverse of ``days(_:_:_:)``.
  private static func date(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
  }
}
