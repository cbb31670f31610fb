// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// See `attribution/verifier/v1/verifier.proto`.
public struct GetSubscriptionStateResponse: RPCMessage, Hashable {
  /// active, active-not-renewing, grace-period, billing-retry, expired, revoked, or unknown-overdue if no notification arrived after the end.
  public var state: String
  /// When this state began.
  public var since: Timestamp?
  /// In the order in which Apple signed them. Members: notificationUUID, notificationType, subtype, signedDate, the state after it, whether it was
  /// late, and the originalTransactionId that it names.
  public var notifications: [JSONObject]
  public var productId: String?
  /// The transaction id of the newest period.
  public var transactionId: String?
  public var expiresDate: Timestamp?
  public var gracePeriodExpiresDate: Timestamp?
  public var revocationDate: Timestamp?
  public var autoRenew: Bool?
  public var autoRenewProductId: String?
  /// Whether the customer may use the subscription now; absent if your system must decide that, because a renewal was due and no notification
  /// arrived. False from expiresDate on if the state is active-not-renewing, and from gracePeriodExpiresDate on if it is grace-period, also if no
  /// notification of the end arrived.
  public var hasAccess: Bool?
  /// Missing steps. Members: id, rules, missing, after, before, shownBy.
  public var gaps: [JSONObject]
  /// The latest source of the state: notifications, or status if Apple was queried for it.
  public var source: String
  /// Ids of gaps for which Apple has no notification; Apple was then queried for the state.
  public var settledGaps: [String]
  /// All ids of the subscription, oldest first: more than one after a migration. The answer for any of them is the answer for the last one.
  public var originalTransactionIds: [String]
  public var subscriptionGroupIdentifier: String?
  /// The storefront of the newest period: ISO 3166-1, three letters.
  public var storefront: String?
  /// Thousandths of the currency: the price of the next period if it is known, otherwise of the newest one.
  public var priceMilliunits: Int64?
  public var currency: String?
  /// The customer's first purchase with this original transaction id.
  public var originalPurchaseDate: Timestamp?

  public init(
    state: String = "",
    since: Timestamp? = nil,
    notifications: [JSONObject] = [],
    productId: String? = nil,
    transactionId: String? = nil,
    expiresDate: Timestamp? = nil,
    gracePeriodExpiresDate: Timestamp? = nil,
    revocationDate: Timestamp? = nil,
    autoRenew: Bool? = nil,
    autoRenewProductId: String? = nil,
    hasAccess: Bool? = nil,
    gaps: [JSONObject] = [],
    source: String = "",
    settledGaps: [String] = [],
    originalTransactionIds: [String] = [],
    subscriptionGroupIdentifier: String? = nil,
    storefront: String? = nil,
    priceMilliunits: Int64? = nil,
    currency: String? = nil,
    originalPurchaseDate: Timestamp? = nil
  ) {
    self.state = state
    self.since = since
    self.notifications = notifications
    self.productId = productId
    self.transactionId = transactionId
    self.expiresDate = expiresDate
    self.gracePeriodExpiresDate = gracePeriodExpiresDate
    self.revocationDate = revocationDate
    self.autoRenew = autoRenew
    self.autoRenewProductId = autoRenewProductId
    self.hasAccess = hasAccess
    self.gaps = gaps
    self.source = source
    self.settledGaps = settledGaps
    self.originalTransactionIds = originalTransactionIds
    self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
    self.storefront = storefront
    self.priceMilliunits = priceMilliunits
    self.currency = currency
    self.originalPurchaseDate = originalPurchaseDate
  }

  public init() {
    self.state = ""
    self.since = nil
    self.notifications = []
    self.productId = nil
    self.transactionId = nil
    self.expiresDate = nil
    self.gracePeriodExpiresDate = nil
    self.revocationDate = nil
    self.autoRenew = nil
    self.autoRenewProductId = nil
    self.hasAccess = nil
    self.gaps = []
    self.source = ""
    self.settledGaps = []
    self.originalTransactionIds = []
    self.subscriptionGroupIdentifier = nil
    self.storefront = nil
    self.priceMilliunits = nil
    self.currency = nil
    self.originalPurchaseDate = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "state":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          state = try reader.readString()
        case "since":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          since = try reader.readTimestamp()
        case "notifications":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          notifications = try reader.readList { (reader) throws(JSONError) in try reader.readObjectValue() }
        case "productId", "product_id":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          productId = try reader.readString()
        case "transactionId", "transaction_id":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          transactionId = try reader.readString()
        case "expiresDate", "expires_date":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          expiresDate = try reader.readTimestamp()
        case "gracePeriodExpiresDate", "grace_period_expires_date":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          gracePeriodExpiresDate = try reader.readTimestamp()
        case "revocationDate", "revocation_date":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          revocationDate = try reader.readTimestamp()
        case "autoRenew", "auto_renew":
          try seen.insert(8, key)
          if try reader.readNull() { continue }
          autoRenew = try reader.readBool()
        case "autoRenewProductId", "auto_renew_product_id":
          try seen.insert(9, key)
          if try reader.readNull() { continue }
          autoRenewProductId = try reader.readString()
        case "hasAccess", "has_access":
          try seen.insert(10, key)
          if try reader.readNull() { continue }
          hasAccess = try reader.readBool()
        case "gaps":
          try seen.insert(11, key)
          if try reader.readNull() { continue }
          gaps = try reader.readList { (reader) throws(JSONError) in try reader.readObjectValue() }
        case "source":
          try seen.insert(12, key)
          if try reader.readNull() { continue }
          source = try reader.readString()
        case "settledGaps", "settled_gaps":
          try seen.insert(13, key)
          if try reader.readNull() { continue }
          settledGaps = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "originalTransactionIds", "original_transaction_ids":
          try seen.insert(14, key)
          if try reader.readNull() { continue }
          originalTransactionIds = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "subscriptionGroupIdentifier", "subscription_group_identifier":
          try seen.insert(15, key)
          if try reader.readNull() { continue }
          subscriptionGroupIdentifier = try reader.readString()
        case "storefront":
          try seen.insert(16, key)
          if try reader.readNull() { continue }
          storefront = try reader.readString()
        case "priceMilliunits", "price_milliunits":
          try seen.insert(17, key)
          if try reader.readNull() { continue }
          priceMilliunits = try reader.readInt64()
        case "currency":
          try seen.insert(18, key)
          if try reader.readNull() { continue }
          currency = try reader.readString()
        case "originalPurchaseDate", "original_purchase_date":
          try seen.insert(19, key)
          if try reader.readNull() { continue }
          originalPurchaseDate = try reader.readTimestamp()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !state.isEmpty {
      writer.key("state")
      writer.string(state)
    }
    if let since {
      writer.key("since")
      writer.string(since.text)
    }
    if !notifications.isEmpty {
      writer.key("notifications")
      writer.beginArray()
      for element in notifications { writer.object(element) }
      writer.endArray()
    }
    if let productId {
      writer.key("productId")
      writer.string(productId)
    }
    if let transactionId {
      writer.key("transactionId")
      writer.string(transactionId)
    }
    if let expiresDate {
      writer.key("expiresDate")
      writer.string(expiresDate.text)
    }
    if let gracePeriodExpiresDate {
      writer.key("gracePeriodExpiresDate")
      writer.string(gracePeriodExpiresDate.text)
    }
    if let revocationDate {
      writer.key("revocationDate")
      writer.string(revocationDate.text)
    }
    if let autoRenew {
      writer.key("autoRenew")
      writer.bool(autoRenew)
    }
    if let autoRenewProductId {
      writer.key("autoRenewProductId")
      writer.string(autoRenewProductId)
    }
    if let hasAccess {
      writer.key("hasAccess")
      writer.bool(hasAccess)
    }
    if !gaps.isEmpty {
      writer.key("gaps")
      writer.beginArray()
      for element in gaps { writer.object(element) }
      writer.endArray()
    }
    if !source.isEmpty {
      writer.key("source")
      writer.string(source)
    }
    if !settledGaps.isEmpty {
      writer.key("settledGaps")
      writer.beginArray()
      for element in settledGaps { writer.string(element) }
      writer.endArray()
    }
    if !originalTransactionIds.isEmpty {
      writer.key("originalTransactionIds")
      writer.beginArray()
      for element in originalTransactionIds { writer.string(element) }
      writer.endArray()
    }
    if let subscriptionGroupIdentifier {
      writer.key("subscriptionGroupIdentifier")
      writer.string(subscriptionGroupIdentifier)
    }
    if let storefront {
      writer.key("storefront")
      writer.string(storefront)
    }
    if let priceMilliunits {
      writer.key("priceMilliunits")
      writer.int64(priceMilliunits)
    }
    if let currency {
      writer.key("currency")
      writer.string(currency)
    }
    if let originalPurchaseDate {
      writer.key("originalPurchaseDate")
      writer.string(originalPurchaseDate.text)
    }
    writer.endObject()
  }
}

/// See `attribution/verifier/v1/verifier.proto`.
public struct GetOneTimePurchaseStateRequest: RPCMessage, Hashable {
  public var transactionId: String?
  public var environment: String?

  public init(
    transactionId: String? = nil,
    environment: String? = nil
  ) {
    self.transactionId = transactionId
    self.environment = environment
  }

  public init() {
    self.transactionId = nil
    self.environment = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "transactionId", "transaction_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          transactionId = try reader.readString()
        case "environment":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let transactionId {
      writer.key("transactionId")
      writer.string(transactionId)
    }
    if let environment {
      writer.key("environment")
      writer.string(environment)
    }
    writer.endObject()
  }
}
