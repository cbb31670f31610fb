/// The endpoints of the App Store Server API that the services call (App Store Server API; Identifying rate limits).
public enum AppStoreServerEndpoint: String, Sendable, Hashable, CaseIterable {
  case getTransactionInfo, getTransactionHistory, getAppTransactionInfo, getAllSubscriptionStatuses
  case setAppAccountToken, sendConsumptionInformation, sendConsumptionInformationV1
  case lookUpOrderID, getRefundHistory
  case extendRenewalDate, extendRenewalDatesForAll, getRenewalDateExtensionStatus
  case getNotificationHistory, requestTestNotification, getTestNotificationStatus

  /// The method.
  public var method: String {
    switch self {
    case .setAppAccountToken, .sendConsumptionInformation, .sendConsumptionInformationV1, .extendRenewalDate: "PUT"
    case .extendRenewalDatesForAll, .getNotificationHistory, .requestTestNotification: "POST"
    default: "GET"
    }
  }

  /// Whether asking twice changes nothing: what failed without an answer may simply be sent again.
  public var isRead: Bool { method == "GET" || self == .getNotificationHistory }

  /// Whether asking twice does no harm: reads, and changes that say what shall be. An extension moves the date each time.
  public var isRepeatable: Bool {
    switch self {
    case .extendRenewalDate, .extendRenewalDatesForAll, .requestTestNotification: false
    default: true
    }
  }

  /// Requests per second and app in production; the sandbox has a tenth. Enforced by the hour.
  public var requestsPerSecond: Double {
    switch self {
    case .setAppAccountToken, .extendRenewalDate: 20
    case .lookUpOrderID, .getRefundHistory: 10
    case .extendRenewalDatesForAll, .getRenewalDateExtensionStatus, .requestTestNotification, .getTestNotificationStatus: 1
    default: 50
    }
  }

  /// Whether the endpoint exists on that server.
  public func exists(on server: AppStoreServer) -> Bool { self != .lookUpOrderID || server == .production }

  /// The path with its values, percent-encoded; `/inApps` is case-sensitive. Refuses an empty value.
  public func path(_ values: [String]) throws(RequestRefusal) -> String {
    let template = template
    guard values.count == template.fields.count else { throw RequestRefusal(field: "path", "has \(template.fields.count) values") }
    var path = template.prefix
    for (index, value) in values.enumerated() {
      guard !value.isEmpty else { throw RequestRefusal(field: template.fields[index], "must not be empty") }
      path += "/" + PercentEncoding.encode(value)
    }
    return path + template.suffix
  }

  private var template: (prefix: String, fields: [String], suffix: String) {
    switch self {
    case .getTransactionInfo: ("/inApps/v1/transactions", ["transactionId"], "")
    case .getTransactionHistory: ("/inApps/v2/history", ["transactionId"], "")
    case .getAppTransactionInfo: ("/inApps/v1/transactions/appTransactions", ["transactionId"], "")
    case .getAllSubscriptionStatuses: ("/inApps/v1/subscriptions", ["transactionId"], "")
    case .setAppAccountToken: ("/inApps/v1/transactions", ["originalTransactionId"], "/appAccountToken")
    case .sendConsumptionInformation: ("/inApps/v2/transactions/consumption", ["transactionId"], "")
    case .sendConsumptionInformationV1: ("/inApps/v1/transactions/consumption", ["transactionId"], "")
    case .lookUpOrderID: ("/inApps/v1/lookup", ["orderId"], "")
    case .getRefundHistory: ("/inApps/v2/refund/lookup", ["transactionId"], "")
    case .extendRenewalDate: ("/inApps/v1/subscriptions/extend", ["originalTransactionId"], "")
    case .extendRenewalDatesForAll: ("/inApps/v1/subscriptions/extend/mass", [], "")
    case .getRenewalDateExtensionStatus: ("/inApps/v1/subscriptions/extend/mass", ["productId", "requestIdentifier"], "")
    case .getNotificationHistory: ("/inApps/v1/notifications/history", [], "")
    case .requestTestNotification: ("/inApps/v1/notifications/test", [], "")
    case .getTestNotificationStatus: ("/inApps/v1/notifications/test", ["testNotificationToken"], "")
    }
  }
}
