public import WireJSON

/// One page of Get Notification History (NotificationHistoryResponse): at most twenty items in any order.
public struct NotificationHistoryPage: Sendable, Hashable {
  /// A notification and Apple's attempts to deliver it.
  public struct Item: Sendable, Hashable {
    /// The payload that was posted, or would have been.
    public let signedPayload: String
    /// The `sendAttemptResult` of each attempt, including unknown values.
    public let sendAttemptResults: [String]

    public init(signedPayload: String, sendAttemptResults: [String]) {
      self.signedPayload = signedPayload
      self.sendAttemptResults = sendAttemptResults
    }
  }

  public let items: [Item]
  public let hasMore: Bool
  public let paginationToken: String?
  /// The number of items without a signed payload. They are not in ``items``.
  public let unusable: Int

  /// Parses an answer; nil if it is not such a page.
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
      var results = (item["sendAttempts"]?.arrayValue ?? []).compactMap { $0["sendAttemptResult"]?.stringValue }
      // The obsolete form with a single attempt.
      if item["sendAttempts"] == nil, let first = item["firstSendAttemptResult"]?.stringValue { results = [first] }
      return Item(signedPayload: signed, sendAttemptResults: results)
    }
    unusable = list.count - items.count
    hasMore = response["hasMore"]?.boolValue ?? false
    paginationToken = response["paginationToken"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
  }
}
