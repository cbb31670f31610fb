/// Decides how long the look-up of a receipt is repeated if Apple does not know one of its ids. Pure: times are passed in.
///
/// Apple may know a purchase only minutes after the app has its receipt. So an id is unknown for good only if Apple does not know it after
/// some patience, counted from the receipt's arrival. The times are our choice.
public enum UnknownTransactionRule {
  /// The fifteenths of the patience after which the look-up is repeated: with a patience of 15 minutes, these are minutes.
  private static let repeats: [Int64] = [1, 4, 15]

  /// How long to wait before the next look-up, milliseconds; nil if the id is unknown for good.
  ///
  /// - Parameters:
  ///   - receivedAt: the receipt's arrival, milliseconds since 1970.
  ///   - now: milliseconds since 1970.
  ///   - patience: milliseconds.
  public static func wait(receivedAt: Int64, now: Int64, patience: Int64) -> Int64? {
    let age = max(0, now - receivedAt)
    return repeats.lazy.map { patience * $0 / 15 - age }.first { $0 > 0 }
  }
}
