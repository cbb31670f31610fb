/// The last known ATT status of one app on one device, and when the device and we learnt of it. Times are milliseconds
/// since 1970.
public struct ATTStatusRecord: Sendable, Hashable {
  public var status: ATTStatus
  /// By the device's clock, but never later than ``receivedAt``: a clock in the future would lock the status.
  public var deviceTime: Int64
  public var receivedAt: Int64
  /// When the status was first received that has been told since without another in between; never later than ``receivedAt``.
  public var since: Int64
  /// Whether it came as an update of its own, as against being told along with a session.
  public var isUpdate: Bool

  public init(status: ATTStatus, deviceTime: Int64?, receivedAt: Int64, since: Int64? = nil, isUpdate: Bool = false) {
    self.status = status
    self.deviceTime = min(deviceTime ?? receivedAt, receivedAt)
    self.receivedAt = receivedAt
    self.since = min(since ?? receivedAt, receivedAt)
    self.isUpdate = isUpdate
  }

  /// Whether this is a refusal that the app reported by itself.
  public var isReportedRefusal: Bool { isUpdate && (status == .denied || status == .restricted) }

  /// What an update did.
  public enum Effect: Sendable, Hashable {
    /// The first status of this install.
    case first
    /// The same status as before.
    case none
    case changed(from: ATTStatus, to: ATTStatus)
    /// It tells of an earlier time than what is known: recorded, not applied.
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
