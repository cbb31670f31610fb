// Made by Generator/generate.py from the contract; change the .proto file instead.

public import WireJSON

/// A notification of the App Store that Apple signed.
public struct NotificationVerifiedEvent: EventData {
  public static let eventType = EventType.notificationVerified

  public var deliveryId: String?
  public var source: String?
  public var receivedAt: Timestamp?
  public var traceparent: String?
  /// Production or Sandbox.
  public var environment: String?
  public var notificationType: String?
  public var subtype: String?
  public var notificationUUID: String?
  public var signedDate: Int64?
  public var payload: NotificationPayload?
  /// payload.data.signedTransactionInfo, verified and decoded.
  public var transactionInfo: TransactionPayload?
  /// payload.data.signedRenewalInfo, verified and decoded.
  public var renewalInfo: RenewalPayload?
  /// payload.appData.signedAppTransactionInfo, verified and decoded.
  public var appTransactionInfo: AppTransactionPayload?
  /// Present in notifications of the type EXTERNAL_PURCHASE_TOKEN.
  public var externalPurchaseToken: ExternalPurchaseTokenPayload?
  /// The current state of its subscription or one-time purchase. Members: state (the words of GetSubscriptionState or GetOneTimePurchaseState),
  /// since, hasAccess (at the time of the event, as in GetSubscriptionState), late (a newer notification arrived before this one); for a migrated
  /// subscription previousOriginalTransactionId and continuedAs.
  public var lifecycle: JSONObject?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    deliveryId: String? = nil,
    source: String? = nil,
    receivedAt: Timestamp? = nil,
    traceparent: String? = nil,
    environment: String? = nil,
    notificationType: String? = nil,
    subtype: String? = nil,
    notificationUUID: String? = nil,
    signedDate: Int64? = nil,
    payload: NotificationPayload? = nil,
    transactionInfo: TransactionPayload? = nil,
    renewalInfo: RenewalPayload? = nil,
    appTransactionInfo: AppTransactionPayload? = nil,
    externalPurchaseToken: ExternalPurchaseTokenPayload? = nil,
    lifecycle: JSONObject? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.deliveryId = deliveryId
    self.source = source
    self.receivedAt = receivedAt
    self.traceparent = traceparent
    self.environment = environment
    self.notificationType = notificationType
    self.subtype = subtype
    self.notificationUUID = notificationUUID
    self.signedDate = signedDate
    self.payload = payload
    self.transactionInfo = transactionInfo
    self.renewalInfo = renewalInfo
    self.appTransactionInfo = appTransactionInfo
    self.externalPurchaseToken = externalPurchaseToken
    self.lifecycle = lifecycle
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "deliveryId":
        if let value = OpenValue.string(member.value) {
          deliveryId = value
          continue
        }
      case "source":
        if let value = OpenValue.string(member.value) {
          source = value
          continue
        }
      case "receivedAt":
        if let value: Timestamp = OpenValue.timestamp(member.value) {
          receivedAt = value
          continue
        }
      case "traceparent":
        if let value = OpenValue.string(member.value) {
          traceparent = value
          continue
        }
      case "environment":
        if let value = OpenValue.string(member.value) {
          environment = value
          continue
        }
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
      case "signedDate":
        if let value = OpenValue.int64(member.value) {
          signedDate = value
          continue
        }
      case "payload":
        if let value: NotificationPayload = OpenValue.message(member.value) {
          payload = value
          continue
        }
      case "transactionInfo":
        if let value: TransactionPayload = OpenValue.message(member.value) {
          transactionInfo = value
          continue
        }
      case "renewalInfo":
        if let value: RenewalPayload = OpenValue.message(member.value) {
          renewalInfo = value
          continue
        }
      case "appTransactionInfo":
        if let value: AppTransactionPayload = OpenValue.message(member.value) {
          appTransactionInfo = value
          continue
        }
      case "externalPurchaseToken":
        if let value: ExternalPurchaseTokenPayload = OpenValue.message(member.value) {
          externalPurchaseToken = value
          continue
        }
      case "lifecycle":
        if let value: JSONObject = OpenValue.object(member.value) {
          lifecycle = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "deliveryId", deliveryId.map { .string($0) })
    object.append(new: "source", source.map { .string($0) })
    object.append(new: "receivedAt", receivedAt.map { .string($0.text) })
    object.append(new: "traceparent", traceparent.map { .string($0) })
    object.append(new: "environment", environment.map { .string($0) })
    object.append(new: "notificationType", notificationType.map { .string($0) })
    object.append(new: "subtype", subtype.map { .string($0) })
    object.append(new: "notificationUUID", notificationUUID.map { .string($0) })
    object.append(new: "signedDate", signedDate.map { .integer($0) })
    object.append(new: "payload", payload.map { .object($0.object) })
    object.append(new: "transactionInfo", transactionInfo.map { .object($0.object) })
    object.append(new: "renewalInfo", renewalInfo.map { .object($0.object) })
    object.append(new: "appTransactionInfo", appTransactionInfo.map { .object($0.object) })
    object.append(new: "externalPurchaseToken", externalPurchaseToken.map { .object($0.object) })
    object.append(new: "lifecycle", lifecycle.map { .object($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// The status of a subscription in an answer of Apple.
public struct SubscriptionObservedEvent: EventData {
  public static let eventType = EventType.subscriptionObserved

  public var deliveryId: String?
  public var source: String?
  public var receivedAt: Timestamp?
  public var environment: String?
  public var bundleId: String?
  public var originalTransactionId: String?
  /// 1 active, 2 expired, 3 billing retry, 4 grace period, 5 revoked.
  public var status: Int32?
  public var transactionInfo: TransactionPayload?
  public var renewalInfo: RenewalPayload?
  /// The gap that this status closes.
  public var gap: JSONObject?
  public var migrationId: String?
  public var lifecycle: JSONObject?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    deliveryId: String? = nil,
    source: String? = nil,
    receivedAt: Timestamp? = nil,
    environment: String? = nil,
    bundleId: String? = nil,
    originalTransactionId: String? = nil,
    status: Int32? = nil,
    transactionInfo: TransactionPayload? = nil,
    renewalInfo: RenewalPayload? = nil,
    gap: JSONObject? = nil,
    migrationId: String? = nil,
    lifecycle: JSONObject? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.deliveryId = deliveryId
    self.source = source
    self.receivedAt = receivedAt
    self.environment = environment
    self.bundleId = bundleId
    self.originalTransactionId = originalTransactionId
    self.status = status
    self.transactionInfo = transactionInfo
    self.renewalInfo = renewalInfo
    self.gap = gap
    self.migrationId = migrationId
    self.lifecycle = lifecycle
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "deliveryId":
        if let value = OpenValue.string(member.value) {
          deliveryId = value
          continue
        }
      case "source":
        if let value = OpenValue.string(member.value) {
          source = value
          continue
        }
      case "receivedAt":
        if let value: Timestamp = OpenValue.timestamp(member.value) {
          receivedAt = value
          continue
        }
      case "environment":
        if let value = OpenValue.string(member.value) {
          environment = value
          continue
        }
      case "bundleId":
        if let value = OpenValue.string(member.value) {
          bundleId = value
          continue
        }
      case "originalTransactionId":
        if let value = OpenValue.string(member.value) {
          originalTransactionId = value
          continue
        }
      case "status":
        if let value = OpenValue.int32(member.value) {
          status = value
          continue
        }
      case "transactionInfo":
        if let value: TransactionPayload = OpenValue.message(member.value) {
          transactionInfo = value
          continue
        }
      case "renewalInfo":
        if let value: RenewalPayload = OpenValue.message(member.value) {
          renewalInfo = value
          continue
        }
      case "gap":
        if let value: JSONObject = OpenValue.object(member.value) {
          gap = value
          continue
        }
      case "migrationId":
        if let value = OpenValue.string(member.value) {
          migrationId = value
          continue
        }
      case "lifecycle":
        if let value: JSONObject = OpenValue.object(member.value) {
          lifecycle = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "deliveryId", deliveryId.map { .string($0) })
    object.append(new: "source", source.map { .string($0) })
    object.append(new: "receivedAt", receivedAt.map { .string($0.text) })
    object.append(new: "environment", environment.map { .string($0) })
    object.append(new: "bundleId", bundleId.map { .string($0) })
    object.append(new: "originalTransactionId", originalTransactionId.map { .string($0) })
    object.append(new: "status", status.map { .integer($0) })
    object.append(new: "transactionInfo", transactionInfo.map { .object($0.object) })
    object.append(new: "renewalInfo", renewalInfo.map { .object($0.object) })
    object.append(new: "gap", gap.map { .object($0) })
    object.append(new: "migrationId", migrationId.map { .string($0) })
    object.append(new: "lifecycle", lifecycle.map { .object($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}

/// A transaction in an answer of Apple.
public struct TransactionObservedEvent: EventData {
  public static let eventType = EventType.transactionObserved

  public var deliveryId: String?
  public var source: String?
  public var receivedAt: Timestamp?
  public var environment: String?
  public var bundleId: String?
  public var originalTransactionId: String?
  public var transactionId: String?
  public var migrationId: String?
  public var gapId: String?
  public var transactionInfo: TransactionPayload?
  /// If it is a one-time purchase: its current state. Members: state, since, hasAccess.
  public var lifecycle: JSONObject?
  /// The members that the contract does not name, and those with a value of another type, unchanged.
  public var other: JSONObject

  public init(
    deliveryId: String? = nil,
    source: String? = nil,
    receivedAt: Timestamp? = nil,
    environment: String? = nil,
    bundleId: String? = nil,
    originalTransactionId: String? = nil,
    transactionId: String? = nil,
    migrationId: String? = nil,
    gapId: String? = nil,
    transactionInfo: TransactionPayload? = nil,
    lifecycle: JSONObject? = nil,
    other: JSONObject = JSONObject()
  ) {
    self.deliveryId = deliveryId
    self.source = source
    self.receivedAt = receivedAt
    self.environment = environment
    self.bundleId = bundleId
    self.originalTransactionId = originalTransactionId
    self.transactionId = transactionId
    self.migrationId = migrationId
    self.gapId = gapId
    self.transactionInfo = transactionInfo
    self.lifecycle = lifecycle
    self.other = other
  }

  public init(_ object: JSONObject) {
    self.init(other: JSONObject())
    for member in object.members {
      switch member.key {
      case "deliveryId":
        if let value = OpenValue.string(member.value) {
          deliveryId = value
          continue
        }
      case "source":
        if let value = OpenValue.string(member.value) {
          source = value
          continue
        }
      case "receivedAt":
        if let value: Timestamp = OpenValue.timestamp(member.value) {
          receivedAt = value
          continue
        }
      case "environment":
        if let value = OpenValue.string(member.value) {
          environment = value
          continue
        }
      case "bundleId":
        if let value = OpenValue.string(member.value) {
          bundleId = value
          continue
        }
      case "originalTransactionId":
        if let value = OpenValue.string(member.value) {
          originalTransactionId = value
          continue
        }
      case "transactionId":
        if let value = OpenValue.string(member.value) {
          transactionId = value
          continue
        }
      case "migrationId":
        if let value = OpenValue.string(member.value) {
          migrationId = value
          continue
        }
      case "gapId":
        if let value = OpenValue.string(member.value) {
          gapId = value
          continue
        }
      case "transactionInfo":
        if let value: TransactionPayload = OpenValue.message(member.value) {
          transactionInfo = value
          continue
        }
      case "lifecycle":
        if let value: JSONObject = OpenValue.object(member.value) {
          lifecycle = value
          continue
        }
      default: break
      }
      other.append(new: member.key, member.value)
    }
  }

  public var object: JSONObject {
    var object = JSONObject()
    object.append(new: "deliveryId", deliveryId.map { .string($0) })
    object.append(new: "source", source.map { .string($0) })
    object.append(new: "receivedAt", receivedAt.map { .string($0.text) })
    object.append(new: "environment", environment.map { .string($0) })
    object.append(new: "bundleId", bundleId.map { .string($0) })
    object.append(new: "originalTransactionId", originalTransactionId.map { .string($0) })
    object.append(new: "transactionId", transactionId.map { .string($0) })
    object.append(new: "migrationId", migrationId.map { .string($0) })
    object.append(new: "gapId", gapId.map { .string($0) })
    object.append(new: "transactionInfo", transactionInfo.map { .object($0.object) })
    object.append(new: "lifecycle", lifecycle.map { .object($0) })
    // If a property and `other` both have a member, the value of the property counts.
    for member in other.members where object[member.key] == nil { object.append(new: member.key, member.value) }
    return object
  }
}
