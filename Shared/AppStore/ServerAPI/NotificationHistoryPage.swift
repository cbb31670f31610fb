public import WireJSON

/// One page of Get Notification History (NotificationHistoryResponse), at most twenty items in no promised order.
public struct NotificationHistoryPage: Sendable, Hashable {
  /// A notification and Apple's attempts to deliver it.
  public struct Item: Sendable, Hashable {
    /// Byte for byte what was, or would have been, posted.
    public let signedPayload: String
    /// The `sendAttemptResult` of each attempt, values this version does not know included.
    public let sendAttemptResults: [String]

    public init(signedPayload: String, sendAttemptResults: [String]) {
      self.signedPayload = signedPayload
      self.sendAttemptResults = sendAttemptResults
    }
  }

  public let items: [Item]
  public let hasMore: Bool
  public let paginationToken: String?
  /// Items without a signed payload: nothing can be done with them, but they are counted.
  public let unusable: Int

  /// Reads the answer; nil when it is no such page.
  public init?(_ response: JSONObject) {
    // Apple leaves the list out when there is nothing in it.
    let list: [JSONValue]
    switch response["notificationHistory"] {
    case .array(let elements): list = elements
    case nil, .null: list = []
    default: return nil
    }
    items = list.compactMap { item in
      guard let signed = item["signedPayload"]?.stringValue, !signed.isEmpty else { return nil }
      var results = (item["sendAttempts"]?.arrayValue ?? []).compactMap { $0["sendAttemptResult"]?.stringValue }
      // The obsolete form, before there were several.
      if item["sendAttempts"] == nil, let first = item["firstSendAttemptResult"]?.stringValue { results = [first] }
      return Item(signedPayload: signed, sendAttemptResults: results)
    }
    unusable = list.count - items.count
    hasMore = response["hasMore"]?.boolValue ?? false
    paginationToken = response["paginationToken"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
  }
}
