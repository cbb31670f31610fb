/// A status that an app reports, against the stored one: the newer device time counts. If only one of the two has a device time, in doubt
/// there is no consent.
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
  ///
  /// A device's time and a time of receipt cannot be compared, because the device's clock may be wrong. If only one record has a device time
  /// and only one is consent, there are two orders: by ``deviceTime`` and by ``receivedAt``. Consent applies only if it is newer in both; a
  /// status without consent applies if it is newer in one of them.
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
