#if canImport(Glibc)
  import Glibc
#endif

/// The value of the `Date` header (RFC 9110 section 6.6.1), formatted at most once a second.
struct HTTPDate {
  private var second = 0
  private var text = ""

  /// The value for the current time.
  mutating func value() -> String {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME_COARSE, &now)
    guard now.tv_sec != second else { return text }
    second = now.tv_sec
    var parts = tm()
    gmtime_r(&now.tv_sec, &parts)
    // The names that strftime writes depend on the locale, so it cannot be used.
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    func twoDigits(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let day = "\(days[Int(parts.tm_wday)]), \(twoDigits(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1900)"
    text = "\(day) \(twoDigits(parts.tm_hour)):\(twoDigits(parts.tm_min)):\(twoDigits(parts.tm_sec)) GMT"
    return text
  }
}
