public import WireJSON

/// A step of a subscription's history: the parts of a notification, or of a status from Apple, that determine the state
/// (responseBodyV2DecodedPayload, JWSTransactionDecodedPayload, JWSRenewalInfoDecodedPayload).
public struct LifecycleStep: Sendable, Hashable {
  /// The type of a step from an answer of Get All Subscription Statuses.
  public static let observation = "STATUS_OBSERVED"
  /// The type of a step from a transaction in an answer of Apple's.
  public static let transactionObservation = "TRANSACTION_OBSERVED"

  /// The transaction of a step. Times are milliseconds since 1970.
  public struct Transaction: Sendable, Hashable {
    public var transactionId: String
    public var productId: String?
    public var purchaseDate: Int64?
    public var expiresDate: Int64?
    public var revocationDate: Int64?
    public var price: SubscriptionPrice?
    /// The subscription's id before its migration.
    public var previousOriginalTransactionId: String?
    public var subscriptionGroupId: String?
    public var storefront: String?
    /// The time of the first purchase under this original transaction id.
    public var originalPurchaseDate: Int64?
    /// The time at which Apple signed these facts. Nil in a step that a version without this property stored.
    public var signedDate: Int64?
    /// `REFUND_FULL`, `REFUND_PRORATED`, `FAMILY_REVOKE` or `ASSIGNMENT_REVOKE`.
    public var revocationType: String?
  }

  /// The renewal information of a step.
  struct Renewal: Sendable, Hashable {
    var autoRenew: Bool?
    var autoRenewProductId: String?
    var gracePeriodExpiresDate: Int64?
    /// True if a price increase needs the customer's consent (`priceIncreaseStatus` 0).
    var priceIncreasePending: Bool?
    /// The price of the next period.
    var price: SubscriptionPrice?
    /// True if a commitment of several periods will be renewed at its end. Its own periods are renewed in any case.
    var commitmentRenews: Bool?
    /// The end of the current period, whatever period the step's transaction is of.
    var renewalDate: Int64?
  }

  /// The UUID in lower case.
  public let notificationUUID: String
  public let type: String
  public let subtype: String?
  /// The time of signing, milliseconds since 1970, which orders the steps.
  public let signedDate: Int64
  /// The newest signing time of the contained JWS, which orders steps with equal ``signedDate``s.
  let innerSignedDate: Int64
  /// Apple's status, 1 to 5, at the time of signing; nil if it is missing.
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

  /// From a verified notification and its decoded JWS; nil if a required member is missing, or both JWS are. The caller checks the type of
  /// the product.
  public init?(notification: JSONObject, transactionInfo: JSONObject?, renewalInfo: JSONObject?) {
    guard let uuid = notification["notificationUUID"]?.stringValue, let type = notification["notificationType"]?.stringValue,
      let signedDate = notification["signedDate"]?.int64Value, transactionInfo != nil || renewalInfo != nil
    else { return nil }
    self.init(
      notificationUUID: uuid, type: type, subtype: notification["subtype"]?.stringValue, signedDate: signedDate,
      innerSignedDate: [transactionInfo, renewalInfo].compactMap { $0?["signedDate"]?.int64Value }.max(),
      appleStatus: notification["data"]?["status"]?.int64Value, transaction: transactionInfo.flatMap { Transaction($0) },
      renewal: renewalInfo.map { Renewal($0) })
  }

  /// From a decoded answer of Get All Subscription Statuses. Its time is that of its JWS.
  public init?(observedStatus: Int64, transactionInfo: JSONObject, renewalInfo: JSONObject?) {
    let dates = [transactionInfo, renewalInfo].compactMap { $0?["signedDate"]?.int64Value }
    guard let date = dates.max(), let transaction = Transaction(transactionInfo) else { return nil }
    self.init(
      notificationUUID: "observed:\(transaction.transactionId):\(date)", type: Self.observation, subtype: nil, signedDate: date,
      appleStatus: observedStatus, transaction: transaction, renewal: renewalInfo.map { Renewal($0) })
  }

  /// From a decoded transaction in an answer of Apple's. Its time is that of the JWS.
  init?(observedTransaction transactionInfo: JSONObject) {
    guard let date = transactionInfo["signedDate"]?.int64Value, let transaction = Transaction(transactionInfo) else { return nil }
    self.init(
      notificationUUID: "observed:\(transaction.transactionId):\(date)", type: Self.transactionObservation, subtype: nil,
      signedDate: date, transaction: transaction, renewal: nil)
  }

  public var isObservation: Bool { type == Self.observation || type == Self.transactionObservation }

  /// True if the subscription continues under this id after a migration.
  public var isMigration: Bool { CommerceChange(notificationType: type) == .migration }

  /// The step with other facts of its transaction.
  func with(_ transaction: Transaction) -> LifecycleStep {
    LifecycleStep(
      notificationUUID: notificationUUID, type: type, subtype: subtype, signedDate: signedDate, innerSignedDate: innerSignedDate,
      appleStatus: appleStatus, transaction: transaction, renewal: renewal)
  }
}

extension LifecycleStep: Comparable {
  /// Orders by outer signing time, then inner signing time, then UUID, so that the order is the same everywhere.
  public static func < (a: LifecycleStep, b: LifecycleStep) -> Bool {
    (a.signedDate, a.innerSignedDate, a.notificationUUID) < (b.signedDate, b.innerSignedDate, b.notificationUUID)
  }
}

extension LifecycleStep.Transaction {
  init?(_ object: JSONObject) {
    guard let id = object["transactionId"]?.stringValue else { return nil }
    self.init(
      transactionId: id, productId: object["productId"]?.stringValue, purchaseDate: object["purchaseDate"]?.int64Value,
      expiresDate: object["expiresDate"]?.int64Value, revocationDate: object["revocationDate"]?.int64Value,
      price: SubscriptionPrice(transaction: object),
      previousOriginalTransactionId: object["previousOriginalTransactionId"]?.stringValue,
      subscriptionGroupId: object["subscriptionGroupIdentifier"]?.stringValue, storefront: object["storefront"]?.stringValue,
      originalPurchaseDate: object["originalPurchaseDate"]?.int64Value, signedDate: object["signedDate"]?.int64Value,
      revocationType: object["revocationType"]?.stringValue)
  }

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
    return object
  }
}

extension LifecycleStep.Renewal {
  init(_ object: JSONObject) {
    self.init(
      autoRenew: object["autoRenewStatus"]?.int64Value.map { $0 == 1 }, autoRenewProductId: object["autoRenewProductId"]?.stringValue,
      gracePeriodExpiresDate: object["gracePeriodExpiresDate"]?.int64Value,
      priceIncreasePending: object["priceIncreaseStatus"]?.int64Value.map { $0 == 0 }, price: SubscriptionPrice(renewal: object),
      commitmentRenews: object["commitmentInfo"]?["commitmentAutoRenewStatus"]?.int64Value.map { $0 == 1 },
      renewalDate: object["renewalDate"]?.int64Value)
  }

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
  /// The stored form.
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

  /// Parses the stored form; nil if it is invalid.
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
