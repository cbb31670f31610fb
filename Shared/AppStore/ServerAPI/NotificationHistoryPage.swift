public import WireJSON

/// One page of Get Notification History (NotificationHistoryResponse): at most twenty notifications, in any order.
public struct NotificationHistoryPage: Sendable, Hashable {
  /// One of Apple's attempts to deliver a notification (sendAttemptItem).
  public struct SendAttempt: Sendable, Hashable {
    /// `sendAttemptResult`, including unknown values.
    public let result: String
    /// `attemptDate`, milliseconds since 1970; nil in the obsolete format, which has none.
    public let date: Int64?

    public init(result: String, date: Int64?) {
      self.result = result
      self.date = date
    }
  }

  /// A notification and Apple's attempts to deliver it.
  public struct Item: Sendable, Hashable {
    /// The JWS that Apple posted or tried to post, byte for byte.
    public let signedPayload: String
    public let sendAttempts: [SendAttempt]

    public init(signedPayload: String, sendAttempts: [SendAttempt]) {
      self.signedPayload = signedPayload
      self.sendAttempts = sendAttempts
    }

    /// True if Apple has tried to deliver the notification and no attempt succeeded.
    public var isUndelivered: Bool { !sendAttempts.isEmpty && !sendAttempts.contains { $0.result == "SUCCESS" } }
  }

  public let items: [Item]
  public let hasMore: Bool
  public let paginationToken: String?
  /// The number of Apple's items without a signed payload, which are left out of ``items``.
  public let unusable: Int

  /// Parses a response; nil if it is not such a page.
  public init?(_ response: JSONObject) {
    // Apple omits an empty list.
    let list: [JSONValue]
    switch response["notificationHistory"] {
    case .array(let elements): list = elements
    case nil, .null: list = []
    default: return nil
    }
    items = list.compactMap { item in
      guard let signed = item["signedPayload"]?.stringValue, !signed.isEmpty else { return nil }
      var attempts = (item["sendAttempts"]?.arrayValue ?? []).compactMap { attempt in
        attempt["sendAttemptResult"]?.stringValue.map { SendAttempt(result: $0, date: attempt["attemptDate"]?.int64Value) }
      }
      // The obsolete format has only the first attempt.
      if item["sendAttempts"] == nil, let first = item["firstSendAttemptResult"]?.stringValue {
        attempts = [SendAttempt(result: first, date: nil)]
      }
      return Item(signedPayload: signed, sendAttempts: attempts)
    }
    unusable = list.count - items.count
    hasMore = response["hasMore"]?.boolValue ?? false
    paginationToken = response["paginationToken"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
  }
}
