// Made by Generator/generate.py from the contract; change the .proto file instead.

import WireJSON

/// The App Store's verified request, and the known state of the subscription.
public struct DecideRetentionRequest: RPCMessage, Hashable {
  public var bundleId: String
  public var appAppleId: Int64
  /// Production or Sandbox.
  public var environment: String
  /// The id of the request: a UUID in lower case.
  public var requestIdentifier: String
  public var originalTransactionId: String
  public var productId: String
  /// The device's locale as the App Store sends it, such as en-US.
  public var userLocale: String
  /// When the App Store signed the request.
  public var signedDate: Timestamp?
  /// Absent if no notification of the subscription arrived, or if its history was not available in time.
  public var subscription: RetentionSubscription?
  /// In lower case. Any other message is refused. Empty while the list of approved messages is unknown.
  public var approvedMessageIdentifiers: [String]
  /// Those of them that have an image. They are refused with an offer or another product.
  public var messageIdentifiersWithImage: [String]

  public init(
    bundleId: String = "",
    appAppleId: Int64 = 0,
    environment: String = "",
    requestIdentifier: String = "",
    originalTransactionId: String = "",
    productId: String = "",
    userLocale: String = "",
    signedDate: Timestamp? = nil,
    subscription: RetentionSubscription? = nil,
    approvedMessageIdentifiers: [String] = [],
    messageIdentifiersWithImage: [String] = []
  ) {
    self.bundleId = bundleId
    self.appAppleId = appAppleId
    self.environment = environment
    self.requestIdentifier = requestIdentifier
    self.originalTransactionId = originalTransactionId
    self.productId = productId
    self.userLocale = userLocale
    self.signedDate = signedDate
    self.subscription = subscription
    self.approvedMessageIdentifiers = approvedMessageIdentifiers
    self.messageIdentifiersWithImage = messageIdentifiersWithImage
  }

  public init() {
    self.bundleId = ""
    self.appAppleId = 0
    self.environment = ""
    self.requestIdentifier = ""
    self.originalTransactionId = ""
    self.productId = ""
    self.userLocale = ""
    self.signedDate = nil
    self.subscription = nil
    self.approvedMessageIdentifiers = []
    self.messageIdentifiersWithImage = []
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "bundleId", "bundle_id":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          bundleId = try reader.readString()
        case "appAppleId", "app_apple_id":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          appAppleId = try reader.readInt64()
        case "environment":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          environment = try reader.readString()
        case "requestIdentifier", "request_identifier":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          requestIdentifier = try reader.readString()
        case "originalTransactionId", "original_transaction_id":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          originalTransactionId = try reader.readString()
        case "productId", "product_id":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          productId = try reader.readString()
        case "userLocale", "user_locale":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          userLocale = try reader.readString()
        case "signedDate", "signed_date":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          signedDate = try reader.readTimestamp()
        case "subscription":
          try seen.insert(8, key)
          if try reader.readNull() { continue }
          subscription = try RetentionSubscription(reading: &reader)
        case "approvedMessageIdentifiers", "approved_message_identifiers":
          try seen.insert(9, key)
          if try reader.readNull() { continue }
          approvedMessageIdentifiers = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        case "messageIdentifiersWithImage", "message_identifiers_with_image":
          try seen.insert(10, key)
          if try reader.readNull() { continue }
          messageIdentifiersWithImage = try reader.readList { (reader) throws(JSONError) in try reader.readString() }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if !bundleId.isEmpty {
      writer.key("bundleId")
      writer.string(bundleId)
    }
    if appAppleId != 0 {
      writer.key("appAppleId")
      writer.int64(appAppleId)
    }
    if !environment.isEmpty {
      writer.key("environment")
      writer.string(environment)
    }
    if !requestIdentifier.isEmpty {
      writer.key("requestIdentifier")
      writer.string(requestIdentifier)
    }
    if !originalTransactionId.isEmpty {
      writer.key("originalTransactionId")
      writer.string(originalTransactionId)
    }
    if !productId.isEmpty {
      writer.key("productId")
      writer.string(productId)
    }
    if !userLocale.isEmpty {
      writer.key("userLocale")
      writer.string(userLocale)
    }
    if let signedDate {
      writer.key("signedDate")
      writer.string(signedDate.text)
    }
    if let subscription {
      writer.key("subscription")
      subscription.write(to: &writer)
    }
    if !approvedMessageIdentifiers.isEmpty {
      writer.key("approvedMessageIdentifiers")
      writer.beginArray()
      for element in approvedMessageIdentifiers { writer.string(element) }
      writer.endArray()
    }
    if !messageIdentifiersWithImage.isEmpty {
      writer.key("messageIdentifiersWithImage")
      writer.beginArray()
      for element in messageIdentifiersWithImage { writer.string(element) }
      writer.endArray()
    }
    writer.endObject()
  }
}

/// The state of a subscription at the time of the request, from its history.
public struct RetentionSubscription: RPCMessage, Hashable {
  /// The same value as in GetSubscriptionStateResponse.
  public var state: String
  public var productId: String?
  public var subscriptionGroupIdentifier: String?
  /// ISO 3166-1, three letters.
  public var storefront: String?
  /// Thousandths of the currency: the price of the next period if it is known, otherwise of the current one.
  public var priceMilliunits: Int64?
  public var currency: String?
  public var autoRenew: Bool?
  public var originalPurchaseDate: Timestamp?
  public var expiresDate: Timestamp?

  public init(
    state: String = "",
    productId: String? = nil,
    subscriptionGroupIdentifier: String? = nil,
    storefront: String? = nil,
    priceMilliunits: Int64? = nil,
    currency: String? = nil,
    autoRenew: Bool? = nil,
    originalPurchaseDate: Timestamp? = nil,
    expiresDate: Timestamp? = nil
  ) {
    self.state = state
    self.productId = productId
    self.subscriptionGroupIdentifier = subscriptionGroupIdentifier
    self.storefront = storefront
    self.priceMilliunits = priceMilliunits
    self.currency = currency
    self.autoRenew = autoRenew
    self.originalPurchaseDate = originalPurchaseDate
    self.expiresDate = expiresDate
  }

  public init() {
    self.state = ""
    self.productId = nil
    self.subscriptionGroupIdentifier = nil
    self.storefront = nil
    self.priceMilliunits = nil
    self.currency = nil
    self.autoRenew = nil
    self.originalPurchaseDate = nil
    self.expiresDate = nil
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
        case "productId", "product_id":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          productId = try reader.readString()
        case "subscriptionGroupIdentifier", "subscription_group_identifier":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          subscriptionGroupIdentifier = try reader.readString()
        case "storefront":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          storefront = try reader.readString()
        case "priceMilliunits", "price_milliunits":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          priceMilliunits = try reader.readInt64()
        case "currency":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          currency = try reader.readString()
        case "autoRenew", "auto_renew":
          try seen.insert(6, key)
          if try reader.readNull() { continue }
          autoRenew = try reader.readBool()
        case "originalPurchaseDate", "original_purchase_date":
          try seen.insert(7, key)
          if try reader.readNull() { continue }
          originalPurchaseDate = try reader.readTimestamp()
        case "expiresDate", "expires_date":
          try seen.insert(8, key)
          if try reader.readNull() { continue }
          expiresDate = try reader.readTimestamp()
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
    if let productId {
      writer.key("productId")
      writer.string(productId)
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
    if let autoRenew {
      writer.key("autoRenew")
      writer.bool(autoRenew)
    }
    if let originalPurchaseDate {
      writer.key("originalPurchaseDate")
      writer.string(originalPurchaseDate.text)
    }
    if let expiresDate {
      writer.key("expiresDate")
      writer.string(expiresDate.text)
    }
    writer.endObject()
  }
}

/// Set exactly one field.
public struct DecideRetentionResponse: RPCMessage, Hashable {
  public var message: RetentionMessageAnswer?
  public var alternateProduct: RetentionAlternateProductAnswer?
  /// An offer, which signer signs for the customer's transaction.
  public var promotionalOffer: RetentionPromotionalOfferAnswer?
  public var advancedCommerce: RetentionAdvancedCommerceAnswer?
  /// True: the configured rules decide.
  public var rules: Bool?
  /// True: the App Store shows the default message.
  public var defaultMessage: Bool?

  public init(
    message: RetentionMessageAnswer? = nil,
    alternateProduct: RetentionAlternateProductAnswer? = nil,
    promotionalOffer: RetentionPromotionalOfferAnswer? = nil,
    advancedCommerce: RetentionAdvancedCommerceAnswer? = nil,
    rules: Bool? = nil,
    defaultMessage: Bool? = nil
  ) {
    self.message = message
    self.alternateProduct = alternateProduct
    self.promotionalOffer = promotionalOffer
    self.advancedCommerce = advancedCommerce
    self.rules = rules
    self.defaultMessage = defaultMessage
  }

  public init() {
    self.message = nil
    self.alternateProduct = nil
    self.promotionalOffer = nil
    self.advancedCommerce = nil
    self.rules = nil
    self.defaultMessage = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "message":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          message = try RetentionMessageAnswer(reading: &reader)
          if alternateProduct != nil || promotionalOffer != nil || advancedCommerce != nil || rules != nil || defaultMessage != nil {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "alternateProduct", "alternate_product":
          try seen.insert(1, key)
          if try reader.readNull() { continue }
          alternateProduct = try RetentionAlternateProductAnswer(reading: &reader)
          if message != nil || promotionalOffer != nil || advancedCommerce != nil || rules != nil || defaultMessage != nil {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "promotionalOffer", "promotional_offer":
          try seen.insert(2, key)
          if try reader.readNull() { continue }
          promotionalOffer = try RetentionPromotionalOfferAnswer(reading: &reader)
          if message != nil || alternateProduct != nil || advancedCommerce != nil || rules != nil || defaultMessage != nil {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "advancedCommerce", "advanced_commerce":
          try seen.insert(3, key)
          if try reader.readNull() { continue }
          advancedCommerce = try RetentionAdvancedCommerceAnswer(reading: &reader)
          if message != nil || alternateProduct != nil || promotionalOffer != nil || rules != nil || defaultMessage != nil {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "rules":
          try seen.insert(4, key)
          if try reader.readNull() { continue }
          rules = try reader.readBool()
          if message != nil || alternateProduct != nil || promotionalOffer != nil || advancedCommerce != nil || defaultMessage != nil {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        case "defaultMessage", "default_message":
          try seen.insert(5, key)
          if try reader.readNull() { continue }
          defaultMessage = try reader.readBool()
          if message != nil || alternateProduct != nil || promotionalOffer != nil || advancedCommerce != nil || rules != nil {
            throw JSONError(.outOfRange("only one of the alternatives may be given"))
          }
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let message {
      writer.key("message")
      message.write(to: &writer)
    }
    if let alternateProduct {
      writer.key("alternateProduct")
      alternateProduct.write(to: &writer)
    }
    if let promotionalOffer {
      writer.key("promotionalOffer")
      promotionalOffer.write(to: &writer)
    }
    if let advancedCommerce {
      writer.key("advancedCommerce")
      advancedCommerce.write(to: &writer)
    }
    if let rules {
      writer.key("rules")
      writer.bool(rules)
    }
    if let defaultMessage {
      writer.key("defaultMessage")
      writer.bool(defaultMessage)
    }
    writer.endObject()
  }
}

/// See `attribution/retention/v1/decisions.proto`.
public struct RetentionMessageAnswer: RPCMessage, Hashable {
  public var messageIdentifier: String?

  public init(
    messageIdentifier: String? = nil
  ) {
    self.messageIdentifier = messageIdentifier
  }

  public init() {
    self.messageIdentifier = nil
  }

  public init(reading reader: inout JSONReader) throws(JSONError) {
    self.init()
    var seen = FieldSet()
    try reader.beginObject()
    while let key = try reader.nextKey() {
      do throws(JSONError) {
        switch key {
        case "messageIdentifier", "message_identifier":
          try seen.insert(0, key)
          if try reader.readNull() { continue }
          messageIdentifier = try reader.readString()
        default: throw JSONError(.unknownField)
        }
      } catch {
        throw error.inside(key)
      }
    }
  }

  public func write(to writer: inout JSONWriter) {
    writer.beginObject()
    if let messageIdentifier {
      writer.key("messageIdentifier")
      writer.string(messageIdentifier)
    }
    writer.endObject()
  }
}
