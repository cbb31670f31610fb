// Made by Generator/generate.py from the contract; change the .proto file instead.

public import WireJSON

/// advancedCommercePriceIncreaseInfo: a planned price increase of an item.
public struct AdvancedCommercePriceIncreasePayload: OpenMessage {
  public var dependentSKUs: [String]
  public var price: Int64?
  /// SCHEDULED, PENDING or ACCEPTED.
  public var status: String?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    dependentSKUs: [String] = [],
    price: Int64? = nil,
    status: String? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.dependentSKUs = dependentSKUs
    self.price = price
    self.status = status
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "dependentSKUs":
        if let value = OpenValue.list(member.value, { OpenValue.string($0) }) {
          dependentSKUs = value
          continue
        }
      case "price":
        if let value = OpenValue.int64(member.value) {
          price = value
          continue
        }
      case "status":
        if let value = OpenValue.string(member.value) {
          status = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    if !dependentSKUs.isEmpty { object.append(new: "dependentSKUs", .array(dependentSKUs.map { .string($0) })) }
    object.append(new: "price", price.map { .integer($0) })
    object.append(new: "status", status.map { .string($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// JWSAppTransactionDecodedPayload: a customer's download of an app.
public struct AppTransactionPayload: OpenMessage {
  /// Production, Sandbox, Xcode or LocalTesting.
  public var receiptType: String?
  public var appAppleId: Int64?
  public var bundleId: String?
  public var applicationVersion: String?
  public var versionExternalIdentifier: Int64?
  public var receiptCreationDate: Int64?
  public var originalPurchaseDate: Int64?
  public var originalApplicationVersion: String?
  /// iOS, macOS, tvOS or visionOS.
  public var originalPlatform: String?
  public var preorderDate: Int64?
  public var appTransactionId: String?
  public var deviceVerification: String?
  public var deviceVerificationNonce: String?
  public var storeType: String?
  public var signedDate: Int64?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    receiptType: String? = nil,
    appAppleId: Int64? = nil,
    bundleId: String? = nil,
    applicationVersion: String? = nil,
    versionExternalIdentifier: Int64? = nil,
    receiptCreationDate: Int64? = nil,
    originalPurchaseDate: Int64? = nil,
    originalApplicationVersion: String? = nil,
    originalPlatform: String? = nil,
    preorderDate: Int64? = nil,
    appTransactionId: String? = nil,
    deviceVerification: String? = nil,
    deviceVerificationNonce: String? = nil,
    storeType: String? = nil,
    signedDate: Int64? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.receiptType = receiptType
    self.appAppleId = appAppleId
    self.bundleId = bundleId
    self.applicationVersion = applicationVersion
    self.versionExternalIdentifier = versionExternalIdentifier
    self.receiptCreationDate = receiptCreationDate
    self.originalPurchaseDate = originalPurchaseDate
    self.originalApplicationVersion = originalApplicationVersion
    self.originalPlatform = originalPlatform
    self.preorderDate = preorderDate
    self.appTransactionId = appTransactionId
    self.deviceVerification = deviceVerification
    self.deviceVerificationNonce = deviceVerificationNonce
    self.storeType = storeType
    self.signedDate = signedDate
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "receiptType":
        if let value = OpenValue.string(member.value) {
          receiptType = value
          continue
        }
      case "appAppleId":
        if let value = OpenValue.int64(member.value) {
          appAppleId = value
          continue
        }
      case "bundleId":
        if let value = OpenValue.string(member.value) {
          bundleId = value
          continue
        }
      case "applicationVersion":
        if let value = OpenValue.string(member.value) {
          applicationVersion = value
          continue
        }
      case "versionExternalIdentifier":
        if let value = OpenValue.int64(member.value) {
          versionExternalIdentifier = value
          continue
        }
      case "receiptCreationDate":
        if let value = OpenValue.int64(member.value) {
          receiptCreationDate = value
          continue
        }
      case "originalPurchaseDate":
        if let value = OpenValue.int64(member.value) {
          originalPurchaseDate = value
          continue
        }
      case "originalApplicationVersion":
        if let value = OpenValue.string(member.value) {
          originalApplicationVersion = value
          continue
        }
      case "originalPlatform":
        if let value = OpenValue.string(member.value) {
          originalPlatform = value
          continue
        }
      case "preorderDate":
        if let value = OpenValue.int64(member.value) {
          preorderDate = value
          continue
        }
      case "appTransactionId":
        if let value = OpenValue.string(member.value) {
          appTransactionId = value
          continue
        }
      case "deviceVerification":
        if let value = OpenValue.string(member.value) {
          deviceVerification = value
          continue
        }
      case "deviceVerificationNonce":
        if let value = OpenValue.string(member.value) {
          deviceVerificationNonce = value
          continue
        }
      case "storeType":
        if let value = OpenValue.string(member.value) {
          storeType = value
          continue
        }
      case "signedDate":
        if let value = OpenValue.int64(member.value) {
          signedDate = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "receiptType", receiptType.map { .string($0) })
    object.append(new: "appAppleId", appAppleId.map { .integer($0) })
    object.append(new: "bundleId", bundleId.map { .string($0) })
    object.append(new: "applicationVersion", applicationVersion.map { .string($0) })
    object.append(new: "versionExternalIdentifier", versionExternalIdentifier.map { .integer($0) })
    object.append(new: "receiptCreationDate", receiptCreationDate.map { .integer($0) })
    object.append(new: "originalPurchaseDate", originalPurchaseDate.map { .integer($0) })
    object.append(new: "originalApplicationVersion", originalApplicationVersion.map { .string($0) })
    object.append(new: "originalPlatform", originalPlatform.map { .string($0) })
    object.append(new: "preorderDate", preorderDate.map { .integer($0) })
    object.append(new: "appTransactionId", appTransactionId.map { .string($0) })
    object.append(new: "deviceVerification", deviceVerification.map { .string($0) })
    object.append(new: "deviceVerificationNonce", deviceVerificationNonce.map { .string($0) })
    object.append(new: "storeType", storeType.map { .string($0) })
    object.append(new: "signedDate", signedDate.map { .integer($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// DecodedRealtimeRequestBody: the App Store's request before it shows a retention message.
public struct RealtimeRequestPayload: OpenMessage {
  public var originalTransactionId: String?
  public var appAppleId: Int64?
  public var productId: String?
  public var userLocale: String?
  public var requestIdentifier: String?
  public var environment: String?
  public var signedDate: Int64?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    originalTransactionId: String? = nil,
    appAppleId: Int64? = nil,
    productId: String? = nil,
    userLocale: String? = nil,
    requestIdentifier: String? = nil,
    environment: String? = nil,
    signedDate: Int64? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.originalTransactionId = originalTransactionId
    self.appAppleId = appAppleId
    self.productId = productId
    self.userLocale = userLocale
    self.requestIdentifier = requestIdentifier
    self.environment = environment
    self.signedDate = signedDate
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "originalTransactionId":
        if let value = OpenValue.string(member.value) {
          originalTransactionId = value
          continue
        }
      case "appAppleId":
        if let value = OpenValue.int64(member.value) {
          appAppleId = value
          continue
        }
      case "productId":
        if let value = OpenValue.string(member.value) {
          productId = value
          continue
        }
      case "userLocale":
        if let value = OpenValue.string(member.value) {
          userLocale = value
          continue
        }
      case "requestIdentifier":
        if let value = OpenValue.string(member.value) {
          requestIdentifier = value
          continue
        }
      case "environment":
        if let value = OpenValue.string(member.value) {
          environment = value
          continue
        }
      case "signedDate":
        if let value = OpenValue.int64(member.value) {
          signedDate = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "originalTransactionId", originalTransactionId.map { .string($0) })
    object.append(new: "appAppleId", appAppleId.map { .integer($0) })
    object.append(new: "productId", productId.map { .string($0) })
    object.append(new: "userLocale", userLocale.map { .string($0) })
    object.append(new: "requestIdentifier", requestIdentifier.map { .string($0) })
    object.append(new: "environment", environment.map { .string($0) })
    object.append(new: "signedDate", signedDate.map { .integer($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}
