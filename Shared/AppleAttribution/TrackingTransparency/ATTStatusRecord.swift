/// The last known ATT status of an app on a device, with the device's time and the time of receipt. Times are milliseconds since 1970.
public struct ATTStatusRecord: Sendable, Hashable {
  public var status: ATTStatus
  /// The device's time, limited to ``receivedAt``, because a time in the future would block later statuses.
  public var deviceTime: Int64
  public var receivedAt: Int64
  /// The time at which this status was first received without another one since; never later than ``receivedAt``.
  public var since: Int64
  /// True if it was reported by itself and not with a session.
  public var isUpdate: Bool

  public init(status: ATTStatus, deviceTime: Int64?, receivedAt: Int64, since: Int64? = nil, isUpdate: Bool = false) {
    self.status = status
    self.deviceTime = min(deviceTime ?? receivedAt, receivedAt)
    self.receivedAt = receivedAt
    self.since = min(since ?? receivedAt, receivedAt)
    self.isUpdate = isUpdate
  }

  /// True for a refusal that was reported by itself.
  public var isReportedRefusal: Bool { isUpdate && (status == .denied || status == .restricted) }

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
