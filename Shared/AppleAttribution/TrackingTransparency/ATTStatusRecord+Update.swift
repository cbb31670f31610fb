/// Decides whether a reported status replaces the stored one: the one with the newer device time counts. If only one of them has a device
/// time, there is no consent in case of doubt.
extension ATTStatusRecord {
  /// The effect of an update.
  public enum Effect: Sendable, Hashable {
    /// The update is the first status of the install.
    case first
    /// The update has the same status as the record.
    case none
    /// The update replaces the record's status.
    case changed(from: ATTStatus, to: ATTStatus)
    /// The update is older than the record, so it is not applied.
    case older
  }

  /// The record after an update, and the update's effect. The newer device time counts; if both are equal, the later receipt.
  ///
  /// The time of a device and a time of receipt cannot be compared, because the device's clock may be wrong. So if only one of update and
  /// record has a device time, and only one of them is consent, the order by ``deviceTime`` and the order by ``receivedAt`` are both
  /// considered. An update with consent applies only if it is newer in both orders. An update without consent applies if it is newer in one
  /// of them.
  public static func applying(_ update: ATTStatusRecord, to current: ATTStatusRecord?) -> (ATTStatusRecord, Effect) {
    guard let current else { return (update, .first) }
    let isNewer = update.isNewer(than: current)
    if update.status == current.status {
      var kept = isNewer ? update : current
      kept.since = current.since
      kept.isUpdate = current.isUpdate || update.isUpdate
      return (kept, .none)
    }
    return isNewer ? (update, .changed(from: current.status, to: update.status)) : (current, .older)
  }

  private func isNewer(than current: ATTStatusRecord) -> Bool {
    let isByDevice = (deviceTime, receivedAt) >= (current.deviceTime, current.receivedAt)
    guard hasDeviceTime != current.hasDeviceTime, status.isConsent != current.status.isConsent else { return isByDevice }
    let isByReceipt = receivedAt >= current.receivedAt
    return status.isConsent ? isByDevice && isByReceipt : isByDevice || isByReceipt
  }
}
