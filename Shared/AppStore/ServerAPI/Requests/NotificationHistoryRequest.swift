import WireJSON

/// The body of Get Notification History, which must be the same for every page (NotificationHistoryRequest).
public struct NotificationHistoryRequest: Sendable, Hashable {
  /// The times of the notifications. The caller clips the window to Apple's retention (``TimeWindow/clipped(to:now:)``).
  public let window: TimeWindow
  public let notificationType: String?
  public let notificationSubtype: String?
  public let transactionId: String?
  /// True for the notifications that Apple has not delivered so far, false for all.
  public let onlyFailures: Bool

  /// Throws ``RequestRefusal`` for what Apple refuses: a type together with a transaction (4000019), a subtype without a type, or a subtype
  /// that does not belong to the type (4000018).
  public init(
    window: TimeWindow, notificationType: String? = nil, notificationSubtype: String? = nil, transactionId: String? = nil,
    onlyFailures: Bool = false
  ) throws(RequestRefusal) {
    for (field, value) in [
      ("notificationType", notificationType), ("notificationSubtype", notificationSubtype), ("transactionId", transactionId),
    ] {
      guard value != "" else { throw RequestRefusal(field: field, "must not be empty") }
      guard (value ?? "").utf8.count <= 128 else { throw RequestRefusal(field: field, "is longer than 128 bytes") }
    }
    if notificationType != nil, transactionId != nil {
      throw RequestRefusal(field: "transactionId", "must not be given together with notificationType: Apple accepts only one of them")
    }
    if notificationSubtype != nil, notificationType == nil {
      throw RequestRefusal(field: "notificationSubtype", "must not be given without notificationType")
    }
    try NotificationFilterRule.check(type: notificationType, subtype: notificationSubtype)
    if let transactionId, !transactionId.utf8.allSatisfy({ (48...57).contains($0) }) {
      throw RequestRefusal(field: "transactionId", "must be digits")
    }
    self.window = window
    self.notificationType = notificationType
    self.notificationSubtype = notificationSubtype
    self.transactionId = transactionId
    self.onlyFailures = onlyFailures
  }

  /// The request as JSON.
  public var body: [UInt8] {
    var object: JSONObject = ["startDate": .integer(window.start), "endDate": .integer(window.end)]
    if let notificationType { object["notificationType"] = .string(notificationType) }
    if let notificationSubtype { object["notificationSubtype"] = .string(notificationSubtype) }
    if let transactionId { object["transactionId"] = .string(transactionId) }
    if onlyFailures { object["onlyFailures"] = true }
    return JSONValue.object(object).serialized
  }
}
