/// The last known ATT status of an install, with the device's time and the time of receipt. Times are milliseconds since 1970.
public struct ATTStatusRecord: Sendable, Hashable {
  public var status: ATTStatus
  /// The time of the status by the device's clock, at most ``receivedAt``, because a time in the future would block later statuses.
  public var deviceTime: Int64
  /// The time of receipt.
  public var receivedAt: Int64
  /// The time since which the status has not changed, at most ``receivedAt``.
  public var since: Int64
  /// True if the app sent the status alone (`PUT …/att-status`), false if it came with a session.
  public var isUpdate: Bool

  public init(status: ATTStatus, deviceTime: Int64?, receivedAt: Int64, since: Int64? = nil, isUpdate: Bool = false) {
    self.status = status
    self.deviceTime = min(deviceTime ?? receivedAt, receivedAt)
    self.receivedAt = receivedAt
    self.since = min(since ?? receivedAt, receivedAt)
    self.isUpdate = isUpdate
  }

  /// True if ``deviceTime`` is by the device's clock. If the device stated no time, or one in the future, it is the time of receipt.
  var hasDeviceTime: Bool { deviceTime < receivedAt }

  /// True if the app sent the status alone, and it is an answer or ended a consent, but is none.
  public var isReportedRefusal: Bool { isUpdate && !status.isConsent && status != .notDetermined }
}
