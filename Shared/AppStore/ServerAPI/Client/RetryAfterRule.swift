/// The time of a retry after 429 (Identifying rate limits).
///
/// Apple's `Retry-After` is an absolute UNIX time in milliseconds, unlike HTTP's. The two HTTP forms are accepted too.
public enum RetryAfterRule {
  /// The shortest wait, milliseconds.
  static let minWait: Int64 = 1000
  /// The longest wait, milliseconds, because limits are counted per hour.
  static let maxWait: Int64 = 3_600_000
  /// The wait without a valid header, milliseconds.
  static let otherwise: Int64 = 60_000

  /// The time of the retry, milliseconds since 1970, between one second and one hour from `now`.
  public static func retryAt(header: String?, now: Int64) -> Int64 {
    let asked = header.flatMap { moment($0, now: now) } ?? now + otherwise
    return min(max(asked, now + minWait), now + maxWait)
  }

  /// The time in the header; nil if it is invalid.
  static func moment(_ header: String, now: Int64) -> Int64? {
    let text = header.drop { $0 == " " }.prefix { $0 != " " || header.contains(",") }
    if let number = Int64(text) {
      if number > 1_000_000_000_000 { return number }
      guard number >= 0 else { return nil }
      return now + min(number, maxWait / 1000) * 1000
    }
    return date(String(text))
  }

  /// `Sun, 06 Nov 1994 08:49:37 GMT` as milliseconds since 1970.
  private static func date(_ text: String) -> Int64? {
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let parts = text.split(whereSeparator: { $0 == " " || $0 == "," || $0 == ":" })
    guard parts.count == 8, parts[7] == "GMT", let day = Int64(parts[1]), let month = months.firstIndex(of: String(parts[2])),
      let year = Int64(parts[3]), let hour = Int64(parts[4]), let minute = Int64(parts[5]), let second = Int64(parts[6]),
      (1...31).contains(day), (1970...9999).contains(year), (0..<24).contains(hour), (0..<60).contains(minute), (0...60).contains(second)
    else { return nil }
    // The days since 1970-01-01. Years begin in March here, so that the leap day comes last.
    let shifted = month < 2 ? year - 1 : year
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * Int64((month + 10) % 12) + 2) / 5 + day - 1
    let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    return (days * 86_400 + hour * 3600 + minute * 60 + second) * 1000
  }
}
