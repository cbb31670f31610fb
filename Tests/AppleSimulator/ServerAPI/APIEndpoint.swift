/// The endpoints of the App Store Server API, the Retention Messaging API, the Advanced Commerce API and the External Purchase Server API,
/// with Apple's rate limits. The README lists their names, by which control requests select them.
enum APIEndpoint: String, Sendable, CaseIterable {
  case transactionInfo, transactionHistory, transactionHistoryV1, appTransactionInfo, subscriptionStatuses
  case setAppAccountToken, finishTransaction, consumption, consumptionV1, orderLookup, refundHistory, refundHistoryV1
  case extendRenewalDate, massExtend, massExtendStatus, notificationHistory, testNotification, testNotificationStatus
  case customerGroups, groupMembers
  case imageUpload, imageDeletion, imageList, messageUpload, messageDeletion, messageList
  case defaultMessageSetting, defaultMessage, defaultMessageDeletion, realtimeURLSetting, realtimeURL, realtimeURLDeletion
  case performanceTest, performanceTestResult
  case metadataChange, migration, priceChange, cancellation, revocation, refundRequest
  case externalPurchaseReport, externalPurchaseRetrieval

  /// The permitted requests per second and app in production; the sandbox permits a tenth.
  var rate: Double {
    switch self {
    case .setAppAccountToken, .extendRenewalDate: 20
    case .orderLookup, .refundHistory, .refundHistoryV1, .defaultMessageSetting: 10
    case .cancellation, .revocation, .refundRequest: 5
    case .massExtend, .massExtendStatus, .testNotification, .testNotificationStatus, .imageUpload, .imageDeletion,
      .imageList, .messageUpload, .messageDeletion, .messageList, .defaultMessage, .defaultMessageDeletion,
      .realtimeURLSetting, .realtimeURL, .realtimeURLDeletion, .performanceTest, .performanceTestResult:
      1
    default: 50
    }
  }

  /// Finds the endpoint of a method and a path (without the environment's prefix), with the values of its path parameters.
  static func find(method: String, _ path: [String]) -> (endpoint: APIEndpoint, values: [String])? {
    if path.count >= 3, path[0] == "groups", path[1] == "v1" {
      if method == "GET", path.count == 4, path[2] == "currentGroups" { return (.customerGroups, [path[3]]) }
      if method == "GET", path.count == 4, path[2] == "group" { return (.groupMembers, [path[3]]) }
      return nil
    }
    if path.count == 5, path[0] == "advancedCommerce", path[1] == "v1", method == "POST", !path[4].isEmpty {
      let found: APIEndpoint? =
        switch (path[2], path[3]) {
        case ("subscription", "changeMetadata"): .metadataChange
        case ("subscription", "migrate"): .migration
        case ("subscription", "changePrice"): .priceChange
        case ("subscription", "cancel"): .cancellation
        case ("subscription", "revoke"): .revocation
        case ("transaction", "requestRefund"): .refundRequest
        default: nil
        }
      return found.map { ($0, [path[4]]) }
    }
    if path.count >= 3, path[0] == "externalPurchase", path[1] == "v1", path[2] == "reports" {
      if method == "PUT", path.count == 3 { return (.externalPurchaseReport, []) }
      if method == "GET", path.count == 4, !path[3].isEmpty { return (.externalPurchaseRetrieval, [path[3]]) }
      return nil
    }
    guard path.count >= 3, path[0] == "inApps", !path.contains("") else { return nil }
    if path.count >= 4, path[1] == "v1", path[2] == "messaging" {
      return messaging(method: method, Array(path.dropFirst(3)))
    }
    let rest = Array(path.dropFirst(3))
    switch (method, path[1], path[2], rest.count) {
    case ("GET", "v1", "transactions", 2) where rest[0] == "appTransactions": return (.appTransactionInfo, [rest[1]])
    case ("GET", "v1", "transactions", 1): return (.transactionInfo, rest)
    case ("PUT", "v1", "transactions", 2) where rest[0] == "consumption": return (.consumptionV1, [rest[1]])
    case ("PUT", "v2", "transactions", 2) where rest[0] == "consumption": return (.consumption, [rest[1]])
    case ("PUT", "v1", "transactions", 2) where rest[1] == "appAccountToken": return (.setAppAccountToken, [rest[0]])
    case ("POST", "v1", "transactions", 2) where rest[1] == "finish": return (.finishTransaction, [rest[0]])
    case ("GET", "v2", "history", 1): return (.transactionHistory, rest)
    case ("GET", "v1", "history", 1): return (.transactionHistoryV1, rest)
    case ("PUT", "v1", "subscriptions", 2) where rest[0] == "extend": return (.extendRenewalDate, [rest[1]])
    case ("POST", "v1", "subscriptions", 2) where rest == ["extend", "mass"]: return (.massExtend, [])
    case ("GET", "v1", "subscriptions", 4) where rest[0] == "extend" && rest[1] == "mass":
      return (.massExtendStatus, [rest[2], rest[3]])
    case ("GET", "v1", "subscriptions", 1): return (.subscriptionStatuses, rest)
    case ("GET", "v1", "lookup", 1): return (.orderLookup, rest)
    case ("GET", "v2", "refund", 2) where rest[0] == "lookup": return (.refundHistory, [rest[1]])
    case ("GET", "v1", "refund", 2) where rest[0] == "lookup": return (.refundHistoryV1, [rest[1]])
    case ("POST", "v1", "notifications", 1) where rest == ["history"]: return (.notificationHistory, [])
    case ("POST", "v1", "notifications", 1) where rest == ["test"]: return (.testNotification, [])
    case ("GET", "v1", "notifications", 2) where rest[0] == "test": return (.testNotificationStatus, [rest[1]])
    default: return nil
    }
  }

  /// The endpoints of the Retention Messaging API.
  private static func messaging(method: String, _ path: [String]) -> (endpoint: APIEndpoint, values: [String])? {
    switch (method, path[0], path.count) {
    case ("GET", "image", 2) where path[1] == "list": (.imageList, [])
    case ("PUT", "image", 2): (.imageUpload, [path[1]])
    case ("DELETE", "image", 2): (.imageDeletion, [path[1]])
    case ("GET", "message", 2) where path[1] == "list": (.messageList, [])
    case ("PUT", "message", 2): (.messageUpload, [path[1]])
    case ("DELETE", "message", 2): (.messageDeletion, [path[1]])
    case ("PUT", "default", 3): (.defaultMessageSetting, [path[1], path[2]])
    case ("GET", "default", 3): (.defaultMessage, [path[1], path[2]])
    case ("DELETE", "default", 3): (.defaultMessageDeletion, [path[1], path[2]])
    case ("PUT", "realtime", 2) where path[1] == "url": (.realtimeURLSetting, [])
    case ("GET", "realtime", 2) where path[1] == "url": (.realtimeURL, [])
    case ("DELETE", "realtime", 2) where path[1] == "url": (.realtimeURLDeletion, [])
    case ("POST", "performanceTest", 1): (.performanceTest, [])
    case ("GET", "performanceTest", 3) where path[1] == "result": (.performanceTestResult, [path[2]])
    default: nil
    }
  }
}
