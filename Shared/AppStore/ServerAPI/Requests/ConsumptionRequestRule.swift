/// The time limit for consumption information: twelve hours after the notification `CONSUMPTION_REQUEST` (Send Consumption Information).
public enum ConsumptionRequestRule {
  /// How long a request may be answered, milliseconds.
  static let answerTime: Int64 = 12 * 3_600_000

  /// True if a request that Apple signed at `requestedAt` may still be answered. Times are milliseconds since 1970.
  public static func isOpen(requestedAt: Int64, now: Int64) -> Bool { now <= requestedAt.plus(answerTime) }
}
