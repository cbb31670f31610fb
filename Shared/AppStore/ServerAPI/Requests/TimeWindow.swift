/// A time window, milliseconds since 1970: the start is inclusive, the end exclusive.
public struct TimeWindow: Sendable, Hashable {
  public let start: Int64
  public let end: Int64

  public static let millisecondsPerDay: Int64 = 86_400_000

  /// Throws ``RequestRefusal`` unless the start is after 1970 and before the end, as Apple requires (4000013).
  public init(start: Int64, end: Int64) throws(RequestRefusal) {
    guard start > 0 else { throw RequestRefusal(field: "startDate", "must be after 1970") }
    guard start < end else { throw RequestRefusal(field: "startDate", "must be before endDate") }
    self.start = start
    self.end = end
  }

  /// A window without a check, for a start that is known to be before the end.
  init(checked start: Int64, _ end: Int64) {
    self.start = start
    self.end = end
  }
}
