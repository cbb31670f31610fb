public import WireJSON

/// A step of the history of a subscription or a one-time purchase: the parts of a notification, or of a response of the App Store Server
/// API, that determine the state (responseBodyV2DecodedPayload, JWSTransactionDecodedPayload, JWSRenewalInfoDecodedPayload).
public struct LifecycleStep: Sendable, Hashable {
  /// The type of a step made from a response of Get All Subscription Statuses. Apple's own types are in notifications.
  public static let observation = "STATUS_OBSERVED"
  /// The type of a step made from a transaction in a response of the App Store Server API.
  public static let transactionObservation = "TRANSACTION_OBSERVED"

  /// The facts of a step's transaction. Times are milliseconds since 1970.
  public struct Transaction: Sendable, Hashable {
    public var transactionId: String
    public var productId: String?
    public var purchaseDate: Int64?
    public var expiresDate: Int64?
    public var revocationDate: Int64?
    public var price: SubscriptionPrice?
    /// The subscription's original transaction id before its migration.
    public var previousOriginalTransactionId: String?
    public var subscriptionGroupId: String?
    public var storefront: String?
    /// The time of the first purchase under this original transaction id.
    public var originalPurchaseDate: Int64?
    /// The time at which Apple signed these facts; nil in a step that was stored without it.
    public var signedDate: Int64?
    /// `REFUND_FULL`, `REFUND_PRORATED`, `FAMILY_REVOKE` or `ASSIGNMENT_REVOKE`.
    public var revocationType: String?
    /// Set if several transactions represent the period, as after seats were added; such as `SEAT_ADDITION`.
    public var additionalTransactionReason: String?
  }

  /// The facts of a step's renewal information. Times are milliseconds since 1970.
  struct Renewal: Sendable, Hashable {
    var autoRenew: Bool?
    var autoRenewProductId: String?
    var gracePeriodExpiresDate: Int64?
    /// True if a price increase needs the customer's consent (`priceIncreaseStatus` 0).
    var priceIncreasePending: Bool?
    /// The price of the next period.
    var price: SubscriptionPrice?
    /// True if a commitment of several periods will be renewed at the end of the commitment. The periods within it are renewed in any case.
    var commitmentRenews: Bool?
    /// The end of the current period. The step's transaction may be of another period.
    var renewalDate: Int64?
  }

  /// The notification's UUID in lower case. For an observation, a text made from the transaction's id and the time of signing.
  public let notificationUUID: String
  /// Apple's type of the notification, or one of the two types of observations.
  public let type: String
  public let subtype: String?
  /// The time of signing, milliseconds since 1970, which orders the steps.
  public let signedDate: Int64
  /// The latest signing time of the JWS inside the notification. It orders steps with the same ``signedDate``.
  let innerSignedDate: Int64
  /// Apple's status of the subscription at the time of signing, 1 to 5; nil if it is missing.
  let appleStatus: Int64?
  public let transaction: Transaction?
  let renewal: Renewal?

  init(
    notificationUUID: String, type: String, subtype: String?, signedDate: Int64, innerSignedDate: Int64? = nil,
    appleStatus: Int64? = nil, transaction: Transaction?, renewal: Renewal?
  ) {
    self.notificationUUID = notificationUUID.lowercased()
    self.type = type
    self.subtype = subtype
    self.signedDate = signedDate
    self.innerSignedDate = innerSignedDate ?? signedDate
    self.appleStatus = appleStatus
    self.transaction = transaction
    self.renewal = renewal
  }

  /// Makes a step from a verified notification and its decoded JWS. The time of signing of a notification that has none is the latest of its
  /// JWS. Nil if there is no such time, if another required member is missing, or both JWS. The caller checks the type of the product.
  public init?(notification: JSONObject, transactionInfo: JSONObject?, renewalInfo: JSONObject?) {
    let innerSignedDate = [transactionInfo, renewalInfo].compactMap { $0?["signedDate"]?.int64Value }.max()
    guard let uuid = notification["notificationUUID"]?.stringValue, let type = notification["notificationType"]?.stringValue,
      let signedDate = notification["signedDate"]?.int64Value ?? innerSignedDate, transactionInfo != nil || renewalInfo != nil
    else { return nil }
    self.init(
      notificationUUID: uuid, type: type, subtype: notification["subtype"]?.stringValue, signedDate: signedDate,
      innerSignedDate: innerSignedDate, appleStatus: notification["data"]?["status"]?.int64Value,
      transaction: transactionInfo.flatMap { Transaction($0) },
      renewal: renewalInfo.map { Renewal($0) })
  }

  /// Makes a step from a decoded response of Get All Subscription Statuses. Its time is the latest signing time of its JWS.
  public init?(observedStatus: Int64, transactionInfo: JSONObject, renewalInfo: JSONObject?) {
    let dates = [transactionInfo, renewalInfo].compactMap { $0?["signedDate"]?.int64Value }
    guard let date = dates.max(), let transaction = Transaction(transactionInfo) else { return nil }
    self.init(
      notificationUUID: "observed:\(transaction.transactionId):\(date)", type: Self.observation, subtype: nil, signedDate: date,
      appleStatus: observedStatus, transaction: transaction, renewal: renewalInfo.map { Renewal($0) })
  }

  /// Makes a step from a decoded transaction in a response of the App Store Server API. Its time is the signing time of the JWS.
  init?(observedTransaction transactionInfo: JSONObject) {
    guard let date = transactionInfo["signedDate"]?.int64Value, let transaction = Transaction(transactionInfo) else { return nil }
    self.init(
      notificationUUID: "observed:\(transaction.transactionId):\(date)", type: Self.transactionObservation, subtype: nil,
      signedDate: date, transaction: transaction, renewal: nil)
  }

  /// True if the step was made from a response of the App Store Server API and not from a notification.
  public var isObservation: Bool { type == Self.observation || type == Self.transactionObservation }

  /// True if the step says that the subscription continues under this original transaction id after a migration.
  public var isMigration: Bool { CommerceChange(notificationType: type) == .migration }

  /// The step with other facts of its transaction.
  func with(_ transaction: Transaction) -> LifecycleStep {
    LifecycleStep(
      notificationUUID: notificationUUID, type: type, subtype: subtype, signedDate: signedDate, innerSignedDate: innerSignedDate,
      appleStatus: appleStatus, transaction: transaction, renewal: renewal)
  }
}

extension LifecycleStep: Comparable {
  /// Orders steps by the signing time of the notification, then by that of the JWS inside it, then by UUID. So the order does not depend on
  /// the order of arrival.
  public static func < (a: LifecycleStep, b: LifecycleStep) -> Bool {
    (a.signedDate, a.innerSignedDate, a.notificationUUID) < (b.signedDate, b.innerSignedDate, b.notificationUUID)
  }
}

extension LifecycleStep.Transaction {
  /// Reads a decoded transaction; nil without a transaction id.
  init?(_ object: JSONObject) {
    guard let id = object["transactionId"]?.stringValue else { return nil }
    self.init(
      transactionId: id, productId: object["productId"]?.stringValue, purchaseDate: object["purchaseDate"]?.int64Value,
      expiresDate: object["expiresDate"]?.int64Value, revocationDate: object["revocationDate"]?.int64Value,
      price: SubscriptionPrice(transaction: object),
      previousOriginalTransactionId: object["previousOriginalTransactionId"]?.stringValue,
      subscriptionGroupId: object["subscriptionGroupIdentifier"]?.stringValue, storefront: object["storefront"]?.stringValue,
      originalPurchaseDate: object["originalPurchaseDate"]?.int64Value, signedDate: object["signedDate"]?.int64Value,
      revocationType: object["revocationType"]?.stringValue,
      additionalTransactionReason: object["additionalTransactionReason"]?.stringValue)
  }

  /// Parses the stored format, whose names are Apple's except for the price.
  init?(json object: JSONObject) {
    self.init(object)
    price = object["price"]?.objectValue.flatMap { SubscriptionPrice(json: $0) }
  }

  var json: JSONObject {
    var object: JSONObject = ["transactionId": .string(transactionId)]
    object["productId"] = productId.map { .string($0) }
    object["purchaseDate"] = purchaseDate.map { .integer($0) }
    object["expiresDate"] = expiresDate.map { .integer($0) }
    object["revocationDate"] = revocationDate.map { .integer($0) }
    object["price"] = price.map { .object($0.json) }
    object["previousOriginalTransactionId"] = previousOriginalTransactionId.map { .string($0) }
    object["subscriptionGroupIdentifier"] = subscriptionGroupId.map { .string($0) }
    object["storefront"] = storefront.map { .string($0) }
    object["originalPurchaseDate"] = originalPurchaseDate.map { .integer($0) }
    object["signedDate"] = signedDate.map { .integer($0) }
    object["revocationType"] = revocationType.map { .string($0) }
    object["additionalTransactionReason"] = additionalTransactionReason.map { .string($0) }
    return object
  }
}

extension LifecycleStep.Renewal {
  /// Reads decoded renewal information.
  init(_ object: JSONObject) {
    self.init(
      autoRenew: object["autoRenewStatus"]?.int64Value.map { $0 == 1 }, autoRenewProductId: object["autoRenewProductId"]?.stringValue,
      gracePeriodExpiresDate: object["gracePeriodExpiresDate"]?.int64Value,
      priceIncreasePending: object["priceIncreaseStatus"]?.int64Value.map { $0 == 0 }, price: SubscriptionPrice(renewal: object),
      commitmentRenews: object["commitmentInfo"]?["commitmentAutoRenewStatus"]?.int64Value.map { $0 == 1 },
      renewalDate: object["renewalDate"]?.int64Value)
  }

  /// Parses the stored format, whose names are Apple's except for the price.
  init(json object: JSONObject) {
    self.init(object)
    price = object["price"]?.objectValue.flatMap { SubscriptionPrice(json: $0) }
  }

  var json: JSONObject {
    var object = JSONObject()
    object["autoRenewStatus"] = autoRenew.map { .integer($0 ? 1 : 0) }
    object["autoRenewProductId"] = autoRenewProductId.map { .string($0) }
    object["gracePeriodExpiresDate"] = gracePeriodExpiresDate.map { .integer($0) }
    object["priceIncreaseStatus"] = priceIncreasePending.map { .integer($0 ? 0 : 1) }
    object["price"] = price.map { .object($0.json) }
    object["commitmentInfo"] = commitmentRenews.map { ["commitmentAutoRenewStatus": .integer($0 ? 1 : 0)] }
    object["renewalDate"] = renewalDate.map { .integer($0) }
    return object
  }
}

extension LifecycleStep {
  /// The stored format.
  var json: JSONObject {
    var object: JSONObject = [
      "uuid": .string(notificationUUID), "type": .string(type), "signedDate": .integer(signedDate),
      "innerSignedDate": .integer(innerSignedDate),
    ]
    object["subtype"] = subtype.map { .string($0) }
    object["status"] = appleStatus.map { .integer($0) }
    object["transaction"] = transaction.map { .object($0.json) }
    object["renewal"] = renewal.map { .object($0.json) }
    return object
  }

  /// Parses the stored format; nil if it is invalid.
  init?(json object: JSONObject) {
    guard let uuid = object["uuid"]?.stringValue, let type = object["type"]?.stringValue,
      let signedDate = object["signedDate"]?.int64Value, let inner = object["innerSignedDate"]?.int64Value
    else { return nil }
    self.init(
      notificationUUID: uuid, type: type, subtype: object["subtype"]?.stringValue, signedDate: signedDate, innerSignedDate: inner,
      appleStatus: object["status"]?.int64Value, transaction: object["transaction"]?.objectValue.flatMap { Transaction(json: $0) },
      renewal: object["renewal"]?.objectValue.map { Renewal(json: $0) })
  }
}
