// Made by Generator/generate.py from the contract; change the .proto file instead.

public import WireJSON

/// responseBodyV2DecodedPayload: a notification of the App Store.
public struct NotificationPayload: OpenMessage {
  public var notificationType: String?
  public var subtype: String?
  public var notificationUUID: String?
  /// 2.0
  public var version: String?
  /// When Apple signed it, milliseconds since 1970.
  public var signedDate: Int64?
  /// Exactly one of these four members is present.
  public var data: NotificationDataPayload?
  public var appData: AppDataPayload?
  public var summary: RenewalExtensionSummaryPayload?
  public var externalPurchaseToken: ExternalPurchaseTokenPayload?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    notificationType: String? = nil,
    subtype: String? = nil,
    notificationUUID: String? = nil,
    version: String? = nil,
    signedDate: Int64? = nil,
    data: NotificationDataPayload? = nil,
    appData: AppDataPayload? = nil,
    summary: RenewalExtensionSummaryPayload? = nil,
    externalPurchaseToken: ExternalPurchaseTokenPayload? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.notificationType = notificationType
    self.subtype = subtype
    self.notificationUUID = notificationUUID
    self.version = version
    self.signedDate = signedDate
    self.data = data
    self.appData = appData
    self.summary = summary
    self.externalPurchaseToken = externalPurchaseToken
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "notificationType":
        if let value = OpenValue.string(member.value) {
          notificationType = value
          continue
        }
      case "subtype":
        if let value = OpenValue.string(member.value) {
          subtype = value
          continue
        }
      case "notificationUUID":
        if let value = OpenValue.string(member.value) {
          notificationUUID = value
          continue
        }
      case "version":
        if let value = OpenValue.string(member.value) {
          version = value
          continue
        }
      case "signedDate":
        if let value = OpenValue.int64(member.value) {
          signedDate = value
          continue
        }
      case "data":
        if let value: NotificationDataPayload = OpenValue.message(member.value) {
          data = value
          continue
        }
      case "appData":
        if let value: AppDataPayload = OpenValue.message(member.value) {
          appData = value
          continue
        }
      case "summary":
        if let value: RenewalExtensionSummaryPayload = OpenValue.message(member.value) {
          summary = value
          continue
        }
      case "externalPurchaseToken":
        if let value: ExternalPurchaseTokenPayload = OpenValue.message(member.value) {
          externalPurchaseToken = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "notificationType", notificationType.map { .string($0) })
    object.append(new: "subtype", subtype.map { .string($0) })
    object.append(new: "notificationUUID", notificationUUID.map { .string($0) })
    object.append(new: "version", version.map { .string($0) })
    object.append(new: "signedDate", signedDate.map { .integer($0) })
    object.append(new: "data", data.map { .object($0.object) })
    object.append(new: "appData", appData.map { .object($0.object) })
    object.append(new: "summary", summary.map { .object($0.object) })
    object.append(new: "externalPurchaseToken", externalPurchaseToken.map { .object($0.object) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// data: the content of a notification about purchases.
public struct NotificationDataPayload: OpenMessage {
  /// Production or Sandbox.
  public var environment: String?
  /// Absent in the sandbox.
  public var appAppleId: Int64?
  public var bundleId: String?
  public var bundleVersion: String?
  /// A JWS whose payload is a TransactionPayload.
  public var signedTransactionInfo: String?
  /// A JWS whose payload is a RenewalPayload. Only for auto-renewable subscriptions.
  public var signedRenewalInfo: String?
  /// 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked, at the time of signing.
  public var status: Int32?
  /// UNINTENDED_PURCHASE, FULFILLMENT_ISSUE, UNSATISFIED_WITH_PURCHASE, LEGAL or OTHER.
  public var consumptionRequestReason: String?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    environment: String? = nil,
    appAppleId: Int64? = nil,
    bundleId: String? = nil,
    bundleVersion: String? = nil,
    signedTransactionInfo: String? = nil,
    signedRenewalInfo: String? = nil,
    status: Int32? = nil,
    consumptionRequestReason: String? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.environment = environment
    self.appAppleId = appAppleId
    self.bundleId = bundleId
    self.bundleVersion = bundleVersion
    self.signedTransactionInfo = signedTransactionInfo
    self.signedRenewalInfo = signedRenewalInfo
    self.status = status
    self.consumptionRequestReason = consumptionRequestReason
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "environment":
        if let value = OpenValue.string(member.value) {
          environment = value
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
      case "bundleVersion":
        if let value = OpenValue.string(member.value) {
          bundleVersion = value
          continue
        }
      case "signedTransactionInfo":
        if let value = OpenValue.string(member.value) {
          signedTransactionInfo = value
          continue
        }
      case "signedRenewalInfo":
        if let value = OpenValue.string(member.value) {
          signedRenewalInfo = value
          continue
        }
      case "status":
        if let value = OpenValue.int32(member.value) {
          status = value
          continue
        }
      case "consumptionRequestReason":
        if let value = OpenValue.string(member.value) {
          consumptionRequestReason = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "environment", environment.map { .string($0) })
    object.append(new: "appAppleId", appAppleId.map { .integer($0) })
    object.append(new: "bundleId", bundleId.map { .string($0) })
    object.append(new: "bundleVersion", bundleVersion.map { .string($0) })
    object.append(new: "signedTransactionInfo", signedTransactionInfo.map { .string($0) })
    object.append(new: "signedRenewalInfo", signedRenewalInfo.map { .string($0) })
    object.append(new: "status", status.map { .integer($0) })
    object.append(new: "consumptionRequestReason", consumptionRequestReason.map { .string($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// appData: the content of a notification about an app itself.
public struct AppDataPayload: OpenMessage {
  public var environment: String?
  /// Absent in the sandbox.
  public var appAppleId: Int64?
  public var bundleId: String?
  /// A JWS whose payload is an AppTransactionPayload.
  public var signedAppTransactionInfo: String?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    environment: String? = nil,
    appAppleId: Int64? = nil,
    bundleId: String? = nil,
    signedAppTransactionInfo: String? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.environment = environment
    self.appAppleId = appAppleId
    self.bundleId = bundleId
    self.signedAppTransactionInfo = signedAppTransactionInfo
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "environment":
        if let value = OpenValue.string(member.value) {
          environment = value
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
      case "signedAppTransactionInfo":
        if let value = OpenValue.string(member.value) {
          signedAppTransactionInfo = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "environment", environment.map { .string($0) })
    object.append(new: "appAppleId", appAppleId.map { .integer($0) })
    object.append(new: "bundleId", bundleId.map { .string($0) })
    object.append(new: "signedAppTransactionInfo", signedAppTransactionInfo.map { .string($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// summary: the result of a renewal extension for all subscribers of a product.
public struct RenewalExtensionSummaryPayload: OpenMessage {
  public var environment: String?
  /// Absent in the sandbox.
  public var appAppleId: Int64?
  public var bundleId: String?
  public var productId: String?
  public var requestIdentifier: String?
  /// Three letters each; absent if the extension was for all storefronts.
  public var storefrontCountryCodes: [String]
  public var succeededCount: Int64?
  public var failedCount: Int64?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    environment: String? = nil,
    appAppleId: Int64? = nil,
    bundleId: String? = nil,
    productId: String? = nil,
    requestIdentifier: String? = nil,
    storefrontCountryCodes: [String] = [],
    succeededCount: Int64? = nil,
    failedCount: Int64? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.environment = environment
    self.appAppleId = appAppleId
    self.bundleId = bundleId
    self.productId = productId
    self.requestIdentifier = requestIdentifier
    self.storefrontCountryCodes = storefrontCountryCodes
    self.succeededCount = succeededCount
    self.failedCount = failedCount
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "environment":
        if let value = OpenValue.string(member.value) {
          environment = value
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
      case "productId":
        if let value = OpenValue.string(member.value) {
          productId = value
          continue
        }
      case "requestIdentifier":
        if let value = OpenValue.string(member.value) {
          requestIdentifier = value
          continue
        }
      case "storefrontCountryCodes":
        if let value = OpenValue.list(member.value, { OpenValue.string($0) }) {
          storefrontCountryCodes = value
          continue
        }
      case "succeededCount":
        if let value = OpenValue.int64(member.value) {
          succeededCount = value
          continue
        }
      case "failedCount":
        if let value = OpenValue.int64(member.value) {
          failedCount = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "environment", environment.map { .string($0) })
    object.append(new: "appAppleId", appAppleId.map { .integer($0) })
    object.append(new: "bundleId", bundleId.map { .string($0) })
    object.append(new: "productId", productId.map { .string($0) })
    object.append(new: "requestIdentifier", requestIdentifier.map { .string($0) })
    if !storefrontCountryCodes.isEmpty { object.append(new: "storefrontCountryCodes", .array(storefrontCountryCodes.map { .string($0) })) }
    object.append(new: "succeededCount", succeededCount.map { .integer($0) })
    object.append(new: "failedCount", failedCount.map { .integer($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// externalPurchaseToken: a token of a purchase outside of the App Store.
public struct ExternalPurchaseTokenPayload: OpenMessage {
  /// Begins with SANDBOX in the sandbox. No other member shows the environment.
  public var externalPurchaseId: String?
  /// Milliseconds since 1970.
  public var tokenCreationDate: Int64?
  public var appAppleId: Int64?
  public var bundleId: String?
  /// Custom link tokens only: ACQUISITION, SERVICES, IN_APP, LINK_OUT, CORE_TECHNOLOGY or a newer value.
  public var tokenType: String?
  /// Custom link tokens only: milliseconds since 1970.
  public var tokenExpirationDate: Int64?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    externalPurchaseId: String? = nil,
    tokenCreationDate: Int64? = nil,
    appAppleId: Int64? = nil,
    bundleId: String? = nil,
    tokenType: String? = nil,
    tokenExpirationDate: Int64? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.externalPurchaseId = externalPurchaseId
    self.tokenCreationDate = tokenCreationDate
    self.appAppleId = appAppleId
    self.bundleId = bundleId
    self.tokenType = tokenType
    self.tokenExpirationDate = tokenExpirationDate
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "externalPurchaseId":
        if let value = OpenValue.string(member.value) {
          externalPurchaseId = value
          continue
        }
      case "tokenCreationDate":
        if let value = OpenValue.int64(member.value) {
          tokenCreationDate = value
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
      case "tokenType":
        if let value = OpenValue.string(member.value) {
          tokenType = value
          continue
        }
      case "tokenExpirationDate":
        if let value = OpenValue.int64(member.value) {
          tokenExpirationDate = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "externalPurchaseId", externalPurchaseId.map { .string($0) })
    object.append(new: "tokenCreationDate", tokenCreationDate.map { .integer($0) })
    object.append(new: "appAppleId", appAppleId.map { .integer($0) })
    object.append(new: "bundleId", bundleId.map { .string($0) })
    object.append(new: "tokenType", tokenType.map { .string($0) })
    object.append(new: "tokenExpirationDate", tokenExpirationDate.map { .integer($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}
