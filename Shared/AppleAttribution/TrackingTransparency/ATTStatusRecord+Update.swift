/// A status that an app reports, against the stored one: the newer device time counts.
extension ATTStatusRecord {
  /// The effect of an update.
  public enum Effect: Sendable, Hashable {
    /// The first status of this install.
    case first
    /// The same status as before.
    case none
    case changed(from: ATTStatus, to: ATTStatus)
    /// The update is older than the record, so it is not applied.
    case older
  }

  /// The record after an update: the newer device time wins, on a tie the later receipt.
  public static func applying(_ update: ATTStatusRecord, to current: ATTStatusRecord?) -> (ATTStatusRecord, Effect) {
    guard let current else { return (update, .first) }
    let isNewer = (update.deviceTime, update.receivedAt) >= (current.deviceTime, current.receivedAt)
    if update.status == current.status {
      var kept = isNewer ? update : current
      kept.since = current.since
      kept.isUpdate = current.isUpdate || update.isUpdate
      return (kept, .none)
    }
    return isNewer ? (update, .changed(from: current.status, to: update.status)) : (current, .older)
  }
}
