/// The last known ATT status of an app on a device, with the device's time and the time of receipt. Times are milliseconds since 1970.
public struct ATTStatusRecord: Sendable, Hashable {
  public var status: ATTStatus
  /// The device's time, limited to ``receivedAt``, because a time in the future would block later statuses.
  public var deviceTime: Int64
  public var receivedAt: Int64
  /// The time since which the status has not changed; never later than ``receivedAt``.
  public var since: Int64
  /// True if the app sent the status alone (`PUT …/att-status`); false if a session contained it.
  public var isUpdate: Bool

  public init(status: ATTStatus, deviceTime: Int64?, receivedAt: Int64, since: Int64? = nil, isUpdate: Bool = false) {
    self.status = status
    self.deviceTime = min(deviceTime ?? receivedAt, receivedAt)
    self.receivedAt = receivedAt
    self.since = min(since ?? receivedAt, receivedAt)
    self.isUpdate = isUpdate
  }

  /// True if ``deviceTime`` is the device's own time. A time that the device did not state, or that was limited, is the time of receipt.
  var hasDeviceTime: Bool { deviceTime < receivedAt }

  /// True for a refusal that the app sent alone.
  public var isReportedRefusal: Bool { isUpdate && (status == .denied || status == .restricted) }
}
