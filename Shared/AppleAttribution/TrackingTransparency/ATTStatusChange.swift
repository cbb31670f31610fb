/// A change of an install's ATT status, as it is published as an event.
public struct ATTStatusChange: Sendable, Hashable {
  public var from: ATTStatus
  public var to: ATTStatus
  /// The time of the change by the device's clock, at most the time of receipt, milliseconds since 1970.
  public var deviceTime: Int64
  /// True if the app sent the status alone (`PUT …/att-status`), false if it came with a session.
  public var isUpdate: Bool

  public init(from: ATTStatus, to: ATTStatus, deviceTime: Int64, isUpdate: Bool) {
    self.from = from
    self.to = to
    self.deviceTime = deviceTime
    self.isUpdate = isUpdate
  }
}

extension ATTStatusChange {
  /// The stored format: `from:to:deviceTime:isUpdate`.
  var text: String { "\(from.code):\(to.code):\(deviceTime):\(isUpdate ? 1 : 0)" }

  /// Parses the stored format; nil if it is damaged.
  init?(text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 4, let from = Int64(parts[0]), let to = Int64(parts[1]), let deviceTime = Int64(parts[2]) else { return nil }
    self.init(from: ATTStatus(code: from), to: ATTStatus(code: to), deviceTime: deviceTime, isUpdate: parts[3] == "1")
  }
}
