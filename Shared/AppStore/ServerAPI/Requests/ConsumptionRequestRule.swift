/// Consumption information answers a `CONSUMPTION_REQUEST`, within twelve hours (Send Consumption Information).
public enum ConsumptionRequestRule {
  /// The time for the answer, milliseconds.
  static let answerTime: Int64 = 12 * 3_600_000

  /// True if a request that Apple signed at that time may still be answered. Times are milliseconds since 1970.
  public static func isOpen(requestedAt: Int64, now: Int64) -> Bool { now <= requestedAt.plus(answerTime) }
}
