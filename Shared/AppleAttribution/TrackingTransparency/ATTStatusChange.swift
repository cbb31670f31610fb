/// A change of what a user of one app on one device said, as others are told of it.
public struct ATTStatusChange: Sendable, Hashable {
  public var from: ATTStatus
  public var to: ATTStatus
  /// By the device's clock, but never later than its receipt, milliseconds since 1970.
  public var deviceTime: Int64
  /// Whether it came as an update of its own, as against being told along with a session.
  public var isUpdate: Bool

  public init(from: ATTStatus, to: ATTStatus, deviceTime: Int64, isUpdate: Bool) {
    self.from = from
    self.to = to
    self.deviceTime = deviceTime
    self.isUpdate = isUpdate
  }
}

extension ATTStatusChange {
  /// The value as it is stored: `from:to:deviceTime:isUpdate`.
  var text: String { "\(from.code):\(to.code):\(deviceTime):\(isUpdate ? 1 : 0)" }

  /// Nil when it is damaged.
  init?(text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 4, let from = Int64(parts[0]), let to = Int64(parts[1]), let deviceTime = Int64(parts[2]) else { return nil }
    self.init(from: ATTStatus(code: from), to: ATTStatus(code: to), deviceTime: deviceTime, isUpdate: parts[3] == "1")
  }
}
