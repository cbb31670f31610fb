/// The endpoints of Apple's servers that the services call with an app's bearer token: those of the App Store Server API, the Retention
/// Messaging API, the Advanced Commerce API and the External Purchase Server API. Their limits are on the pages "Identifying rate limits"
/// of each.
public enum AppStoreServerEndpoint: String, Sendable, Hashable, CaseIterable {
  case getTransactionInfo, getTransactionHistory, getAppTransactionInfo, getAllSubscriptionStatuses
  case setAppAccountToken, finishTransaction, sendConsumptionInformation, sendConsumptionInformationV1
  case lookUpOrderID, getRefundHistory
  case extendRenewalDate, extendRenewalDatesForAll, getRenewalDateExtensionStatus
  case getNotificationHistory, requestTestNotification, getTestNotificationStatus
  // Retention Messaging API.
  case uploadRetentionImage, deleteRetentionImage, listRetentionImages
  case uploadRetentionMessage, deleteRetentionMessage, listRetentionMessages
  case setDefaultRetentionMessage, getDefaultRetentionMessage, deleteDefaultRetentionMessage
  case setRetentionURL, getRetentionURL, deleteRetentionURL
  case startRetentionPerformanceTest, getRetentionPerformanceTest
  // Advanced Commerce API.
  case changeSubscriptionMetadata, migrateSubscription, changeSubscriptionPrice
  case cancelSubscription, revokeSubscription, requestTransactionRefund
  // External Purchase Server API.
  case sendExternalPurchaseReport, retrieveExternalPurchaseReport

  /// The HTTP method.
  public var method: String {
    switch self {
    case .setAppAccountToken, .sendConsumptionInformation, .sendConsumptionInformationV1, .extendRenewalDate, .uploadRetentionImage,
      .uploadRetentionMessage, .setDefaultRetentionMessage, .setRetentionURL, .sendExternalPurchaseReport:
      "PUT"
    case .finishTransaction, .extendRenewalDatesForAll, .getNotificationHistory, .requestTestNotification,
      .startRetentionPerformanceTest, .changeSubscriptionMetadata, .migrateSubscription, .changeSubscriptionPrice, .cancelSubscription,
      .revokeSubscription, .requestTransactionRefund:
      "POST"
    case .deleteRetentionImage, .deleteRetentionMessage, .deleteDefaultRetentionMessage, .deleteRetentionURL: "DELETE"
    default: "GET"
    }
  }

  /// The content type of a request's body.
  public var contentType: String { self == .uploadRetentionImage ? "image/png" : "application/json" }

  /// True if a request only reads, so that it may be retried after a failure without a response.
  public var isRead: Bool { method == "GET" || self == .getNotificationHistory }

  /// True if repeating a request does no harm: for reads, and for changes to a given value. False for an extension, which moves the date
  /// each time; for tests, each of which Apple starts anew; and for uploads and deletions of images and messages, purchase reports and
  /// changes of the Advanced Commerce API, whose repetition Apple refuses.
  public var isRepeatable: Bool {
    switch self {
    case .extendRenewalDate, .extendRenewalDatesForAll, .requestTestNotification, .uploadRetentionImage, .deleteRetentionImage,
      .uploadRetentionMessage, .deleteRetentionMessage, .startRetentionPerformanceTest, .sendExternalPurchaseReport:
      false
    default: !isAdvancedCommerce
    }
  }

  /// True for the Advanced Commerce API.
  var isAdvancedCommerce: Bool {
    switch self {
    case .changeSubscriptionMetadata, .migrateSubscription, .changeSubscriptionPrice, .cancelSubscription, .revokeSubscription,
      .requestTransactionRefund:
      true
    default: false
    }
  }

  /// Apple's limit of requests per second and app in production; the sandbox has a tenth (``AppStoreRateBudget``). Apple states no limit
  /// for external purchases, and none for the status of an extension for all subscribers, for which we use 1.
  var requestsPerSecond: Double {
    switch self {
    case .setAppAccountToken, .extendRenewalDate: 20
    case .lookUpOrderID, .getRefundHistory, .setDefaultRetentionMessage: 10
    case .cancelSubscription, .revokeSubscription, .requestTransactionRefund: 5
    case .extendRenewalDatesForAll, .getRenewalDateExtensionStatus, .requestTestNotification, .getTestNotificationStatus,
      .uploadRetentionImage, .deleteRetentionImage, .listRetentionImages, .uploadRetentionMessage, .deleteRetentionMessage,
      .listRetentionMessages, .getDefaultRetentionMessage, .deleteDefaultRetentionMessage, .setRetentionURL, .getRetentionURL,
      .deleteRetentionURL, .startRetentionPerformanceTest, .getRetentionPerformanceTest:
      1
    default: 50
    }
  }

  /// True if the endpoint exists on that server.
  public func exists(on server: AppStoreServer) -> Bool {
    switch self {
    case .lookUpOrderID: server == .production
    case .startRetentionPerformanceTest, .getRetentionPerformanceTest: server == .sandbox
    default: true
    }
  }

  /// The base URL of the endpoint. Apple's pages of the Advanced Commerce API name another host than those of the App Store Server API. A
  /// configured server that is not Apple's, such as a simulator, serves all endpoints.
  func baseURL(_ configured: String, on server: AppStoreServer) -> String {
    guard isAdvancedCommerce, configured == server.defaultBaseURL else { return configured }
    return server == .production ? "https://api.storekit.itunes.apple.com" : "https://api.storekit-sandbox.itunes.apple.com"
  }

  /// The path with its values, percent-encoded. Throws ``RequestRefusal`` for an empty value, or another number of values than the path
  /// has.
  public func path(_ values: [String]) throws(RequestRefusal) -> String {
    let template = template
    guard values.count == template.fields.count else { throw RequestRefusal(field: "path", "must have \(template.fields.count) values") }
    var path = template.prefix
    for (index, value) in values.enumerated() {
      guard !value.isEmpty else { throw RequestRefusal(field: template.fields[index], "must not be empty") }
      path += "/" + PercentEncoding.encode(value)
    }
    return path + template.suffix
  }

  /// The path around its values, and the values' names in errors. Apple distinguishes upper and lower case in `/inApps`.
  private var template: (prefix: String, fields: [String], suffix: String) {
    switch self {
    case .getTransactionInfo: ("/inApps/v1/transactions", ["transactionId"], "")
    case .getTransactionHistory: ("/inApps/v2/history", ["transactionId"], "")
    case .getAppTransactionInfo: ("/inApps/v1/transactions/appTransactions", ["transactionId"], "")
    case .getAllSubscriptionStatuses: ("/inApps/v1/subscriptions", ["transactionId"], "")
    case .setAppAccountToken: ("/inApps/v1/transactions", ["originalTransactionId"], "/appAccountToken")
    case .finishTransaction: ("/inApps/v1/transactions", ["transactionId"], "/finish")
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
    case .uploadRetentionImage, .deleteRetentionImage: ("/inApps/v1/messaging/image", ["imageIdentifier"], "")
    case .listRetentionImages: ("/inApps/v1/messaging/image/list", [], "")
    case .uploadRetentionMessage, .deleteRetentionMessage: ("/inApps/v1/messaging/message", ["messageIdentifier"], "")
    case .listRetentionMessages: ("/inApps/v1/messaging/message/list", [], "")
    case .setDefaultRetentionMessage, .getDefaultRetentionMessage, .deleteDefaultRetentionMessage:
      ("/inApps/v1/messaging/default", ["productId", "locale"], "")
    case .setRetentionURL, .getRetentionURL, .deleteRetentionURL: ("/inApps/v1/messaging/realtime/url", [], "")
    case .startRetentionPerformanceTest: ("/inApps/v1/messaging/performanceTest", [], "")
    case .getRetentionPerformanceTest: ("/inApps/v1/messaging/performanceTest/result", ["requestId"], "")
    case .changeSubscriptionMetadata: ("/advancedCommerce/v1/subscription/changeMetadata", ["transactionId"], "")
    case .migrateSubscription: ("/advancedCommerce/v1/subscription/migrate", ["transactionId"], "")
    case .changeSubscriptionPrice: ("/advancedCommerce/v1/subscription/changePrice", ["transactionId"], "")
    case .cancelSubscription: ("/advancedCommerce/v1/subscription/cancel", ["transactionId"], "")
    case .revokeSubscription: ("/advancedCommerce/v1/subscription/revoke", ["transactionId"], "")
    case .requestTransactionRefund: ("/advancedCommerce/v1/transaction/requestRefund", ["transactionId"], "")
    case .sendExternalPurchaseReport: ("/externalPurchase/v1/reports", [], "")
    case .retrieveExternalPurchaseReport: ("/externalPurchase/v1/reports", ["requestIdentifier"], "")
    }
  }
}
