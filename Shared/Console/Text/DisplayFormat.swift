import AttributionProtocol

/// Formats numbers and times for people.
enum DisplayFormat {
  /// A whole number: `12,345`.
  static func count(_ number: Int64) -> String {
    var digits = String(number.magnitude)
    var parts: [Substring] = []
    while digits.count > 3 {
      parts.insert(digits.suffix(3), at: 0)
      digits = String(digits.dropLast(3))
    }
    return (number < 0 ? "−" : "") + ([Substring(digits)] + parts).joined(separator: ",")
  }

  /// A number beside an axis: `1.5k`.
  static func short(_ number: Int64) -> String {
    for (size, unit) in [(Int64(1_000_000_000), "G"), (1_000_000, "M"), (1000, "k")] where number >= size {
      let tenths = number * 10 / size
      return tenths % 10 == 0 || tenths >= 1000 ? "\(tenths / 10)\(unit)" : "\(tenths / 10).\(tenths % 10)\(unit)"
    }
    return String(number)
  }

  /// A share: `12.3 %`. Only exactly nothing is shown as 0 %, and only exactly everything as 100 %.
  static func share(_ part: Int64, of whole: Int64) -> String {
    guard whole > 0 else { return "0 %" }
    let tenths = (Double(part) * 1000 / Double(whole)).rounded()
    if part > 0, tenths < 1 { return "< 0.1 %" }
    if part < whole, tenths > 999 { return "> 99.9 %" }
    let whole = Int(tenths)
    return whole % 10 == 0 ? "\(whole / 10) %" : "\(whole / 10).\(whole % 10) %"
  }

  /// A duration in the two largest units: `2 h 5 min`.
  static func age(seconds: Double) -> String {
    let seconds = Int64(max(0, seconds.isFinite ? seconds : 0))
    let units: [(Int64, String)] = [(86_400, "d"), (3600, "h"), (60, "min"), (1, "s")]
    guard let index = units.firstIndex(where: { seconds >= $0.0 }) else { return "0 s" }
    let (size, name) = units[index]
    let first = "\(seconds / size) \(name)"
    guard index + 1 < units.count, index < 3 else { return first }
    let (smallerSize, smallerName) = units[index + 1]
    let rest = seconds % size / smallerSize
    return rest == 0 ? first : "\(first) \(rest) \(smallerName)"
  }

  /// A date and time in UTC: `2026-11-25 09:40:12`.
  static func time(_ time: Timestamp) -> String {
    let text = Timestamp(seconds: time.seconds).text
    return text.replacing("T", with: " ").replacing("Z", with: "")
  }

  /// A time of day in UTC: `09:40`.
  static func clock(_ time: Timestamp) -> String { String(Self.time(time).suffix(8).prefix(5)) }

  /// A date: `25 Nov`.
  static func day(_ time: Timestamp) -> String {
    let parts = Self.time(time).prefix(10).split(separator: "-").compactMap { Int($0) }
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    guard parts.count == 3, (1...12).contains(parts[1]) else { return "" }
    return "\(parts[2]) \(months[parts[1] - 1])"
  }

  /// A time range: `2026-11-25 08:39 to 09:39`.
  static func range(_ start: Timestamp, _ end: Timestamp) -> String {
    let (from, to) = (time(start).prefix(16), time(end).prefix(16))
    return "\(from) to \(from.prefix(10) == to.prefix(10) ? to.suffix(5) : to)"
  }

  /// A number and its noun: `1 gap`, `2 gaps`.
  static func plural(_ count: Int64, _ one: String, _ many: String) -> String { "\(Self.count(count)) \(count == 1 ? one : many)" }
}

/// A time on a page, for the HTML element `time`.
struct Moment {
  /// The value of the attribute `datetime`, in the format of RFC 3339.
  let datetime: String
  let text: String
  /// The time since then, or until then.
  let distance: String

  init(_ time: Timestamp, now: Int64) {
    datetime = Timestamp(seconds: time.seconds).text
    text = DisplayFormat.time(time)
    let seconds = Double(now - time.millisecondsSince1970) / 1000
    distance = seconds >= 0 ? DisplayFormat.age(seconds: seconds) + " ago" : "in " + DisplayFormat.age(seconds: -seconds)
  }

  init?(_ time: Timestamp?, now: Int64) {
    guard let time else { return nil }
    self.init(time, now: now)
  }
}
