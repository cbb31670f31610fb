/// The time from which a request may be retried after the status 429 (Identifying rate limits).
///
/// Apple's `Retry-After` is an absolute UNIX time in milliseconds, unlike HTTP's. The two formats of HTTP, seconds and a date, are accepted
/// too.
public enum RetryAfterRule {
  /// The shortest wait, milliseconds.
  static let minWait: Int64 = 1000
  /// The longest wait, milliseconds. Apple counts its limits per hour, so a longer wait is never needed.
  static let maxWait: Int64 = 3_600_000
  /// The wait without a valid header, milliseconds.
  static let defaultWait: Int64 = 60_000

  /// The time from which a retry is allowed, milliseconds since 1970, between one second and one hour from `now`.
  public static func retryAt(header: String?, now: Int64) -> Int64 {
    let requested = header.flatMap { time(in: $0, now: now) } ?? now + defaultWait
    return min(max(requested, now + minWait), now + maxWait)
  }

  /// The time in the header, milliseconds since 1970; nil if it is invalid.
  static func time(in header: String, now: Int64) -> Int64? {
    let text = header.drop { $0 == " " }.prefix { $0 != " " || header.contains(",") }
    if let number = Int64(text) {
      // A number of seconds is never as great as a time in milliseconds since 1970.
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
