import WireJSON

/// Creates notifications and signs them (*responseBodyV2DecodedPayload*). In `overrides`, the members `transaction`, `renewal`, `data` and
/// `payload` change the signed objects; `holder`, `forge`, `history` and `notificationUUID` are described in the README.
struct NotificationFactory: Sendable {
  let signer: JWSSigner
  /// Signs with a certificate chain under a root that the services do not trust.
  let foreignRootSigner: JWSSigner
  /// Signs with a certificate chain under the right root, but without Apple's marker extensions.
  let unmarkedSigner: JWSSigner
  let ledger: PurchaseLedger
  let time: SimulatedTime
  let random: SeededRandom

  /// A new subscription of a new customer. It is not in the ledger until ``NotificationPublisher/store(_:)`` adds it.
  func newSubscription(_ request: JSONObject, app: SimulatedApp, environment: AppStoreEnvironment) -> SimulatedSubscription {
    var subscription = SimulatedSubscription(
      bundleID: app.bundleID, environment: environment,
      productID: request["productId"]?.stringValue ?? app.bundleID + ".monthly",
      groupID: request["subscriptionGroupIdentifier"]?.stringValue ?? "20465413",
      appTransactionID: newAppTransactionID())
    subscription.appAccountToken = request["appAccountToken"]?.stringValue
    subscription.commerce = request["advancedCommerce"]?.objectValue
    subscription.periodDays = request["periodDays"]?.int64Value ?? 30
    subscription.commitmentPeriods = request["commitmentPeriods"]?.int64Value.flatMap { $0 > 0 ? $0 : nil }
    subscription.skus = request["skus"]?.arrayValue?.compactMap(\.stringValue) ?? []
    return subscription
  }

  func newTransactionID() -> String { random.digits(15) }

  func newAppTransactionID() -> String { random.digits(18) }

  /// The notification about a step in the life cycle of a subscription. The subscription must have its state after the step.
  func notification(
    _ event: SimulatedSubscription.Event, of subscription: SimulatedSubscription, app: SimulatedApp, at date: Int64, overrides: JSONObject
  ) throws -> NotificationRecord {
    var data = base(app, subscription.environment)
    data["bundleVersion"] = "1.0"
    data["signedTransactionInfo"] = .string(
      try signer.sign(subscription.current.payload(signedDate: date, overrides: overrides["transaction"]?.objectValue)))
    data["signedRenewalInfo"] = .string(
      try signer.sign(subscription.renewalInfo(signedDate: date, overrides: overrides["renewal"]?.objectValue)))
    data["status"] = .integer(subscription.status)
    if event.type == "CONSUMPTION_REQUEST" { data["consumptionRequestReason"] = "UNINTENDED_PURCHASE" }
    var record = try record(
      event, member: "data", data, app: app, environment: subscription.environment, at: date, overrides: overrides)
    record.transactionIDs = Set(subscription.transactions.map(\.id) + [subscription.appTransactionID])
    record.transactionID = subscription.current.id
    record.originalTransactionID = subscription.originalID
    return record
  }

  /// The notification about a one-time purchase.
  func product(
    _ event: SimulatedSubscription.Event, of transaction: TransactionFacts, app: SimulatedApp, environment: AppStoreEnvironment,
    at date: Int64, overrides: JSONObject
  )
    throws -> NotificationRecord
  {
    var data = base(app, environment)
    data["bundleVersion"] = "1.0"
    data["signedTransactionInfo"] = .string(
      try signer.sign(transaction.payload(signedDate: date, overrides: overrides["transaction"]?.objectValue)))
    if event.type == "CONSUMPTION_REQUEST" { data["consumptionRequestReason"] = "UNINTENDED_PURCHASE" }
    var record = try record(
      event, member: "data", data, app: app, environment: environment, at: date, overrides: overrides)
    record.transactionIDs = [transaction.id]
    record.transactionID = transaction.id
    record.originalTransactionID = transaction.originalID
    return record
  }

  /// A notification without a transaction: a test, the summary of an extension, an external purchase token or a withdrawn consent.
  func detached(
    _ event: SimulatedSubscription.Event, app: SimulatedApp, environment: AppStoreEnvironment, at date: Int64,
    overrides: JSONObject
  )
    throws -> NotificationRecord
  {
    var object = base(app, environment)
    var member = "data"
    switch event.type {
    case "RENEWAL_EXTENSION":
      member = "summary"
      object.merge([
        "productId": .string(app.bundleID + ".monthly"), "requestIdentifier": .string(random.uuid()),
        "storefrontCountryCodes": ["USA"], "succeededCount": 5, "failedCount": 1,
      ])
    case "EXTERNAL_PURCHASE_TOKEN":
      member = "externalPurchaseToken"
      object = [
        "externalPurchaseId": .string((environment == .sandbox ? "SANDBOX_" : "") + random.uuid()),
        "tokenCreationDate": .integer(date),
      ]
      object["appAppleId"] = app.appAppleID.map { .integer($0) }
      object["bundleId"] = .string(app.bundleID)
      // Apple sends these two subtypes only for custom link tokens, which have a type and an expiration date.
      if event.subtype == "CREATED" || event.subtype == "ACTIVE_TOKEN_REMINDER" {
        object["tokenType"] = "SERVICES"
        object["tokenExpirationDate"] = .integer(date + 365 * SimulatedSubscription.day)
      }
    case "RESCIND_CONSENT":
      member = "appData"
      object["signedAppTransactionInfo"] = .string(
        try signer.sign(
          appTransaction(app: app, environment: environment, id: newAppTransactionID(), firstSeen: date, at: date)))
    default: break
    }
    return try record(event, member: member, object, app: app, environment: environment, at: date, overrides: overrides)
  }

  /// *JWSAppTransactionDecodedPayload*.
  func appTransaction(app: SimulatedApp, environment: AppStoreEnvironment, id: String, firstSeen: Int64, at date: Int64)
    -> JSONObject
  {
    var payload: JSONObject = ["receiptType": .string(environment.rawValue)]
    if environment == .production { payload["appAppleId"] = app.appAppleID.map { .integer($0) } }
    payload.merge([
      "bundleId": .string(app.bundleID), "applicationVersion": "1.0", "receiptCreationDate": .integer(date),
      "originalPurchaseDate": .integer(firstSeen), "originalApplicationVersion": "1.0", "originalPlatform": "iOS",
      "appTransactionId": .string(id), "signedDate": .integer(date), "storeType": "APP_STORE",
    ])
    return payload
  }

  /// The members of `data` that every notification has.
  private func base(_ app: SimulatedApp, _ environment: AppStoreEnvironment) -> JSONObject {
    var object = JSONObject()
    if environment == .production { object["appAppleId"] = app.appAppleID.map { .integer($0) } }
    object["bundleId"] = .string(app.bundleID)
    object["environment"] = .string(environment.rawValue)
    return object
  }

  /// Builds the payload with `content` as its `member`, signs it, and returns the record.
  private func record(
    _ event: SimulatedSubscription.Event, member: String, _ content: JSONObject, app: SimulatedApp,
    environment: AppStoreEnvironment, at date: Int64, overrides: JSONObject
  ) throws -> NotificationRecord {
    var content = content
    content.merge(overrides["data"]?.objectValue)
    let uuid = overrides["notificationUUID"]?.stringValue ?? random.uuid()
    var payload: JSONObject = ["notificationType": .string(event.type)]
    payload["subtype"] = event.subtype.map { .string($0) }
    payload.merge([
      "notificationUUID": .string(uuid), "version": "2.0", "signedDate": .integer(date),
      overrides["holder"]?.stringValue ?? member: .object(content),
    ])
    payload.merge(overrides["payload"]?.objectValue)
    return NotificationRecord(
      uuid: uuid, bundleID: app.bundleID, environment: environment, type: event.type, subtype: event.subtype,
      signedDate: date, signedPayload: try sign(payload, forge: overrides["forge"]?.stringValue),
      isInHistory: overrides["history"]?.boolValue ?? (overrides["forge"] == nil))
  }

  /// Signs the payload.
  ///
  /// - Parameter forge: how the outer JWS is forged: `root` (signed under another root), `marks` (certificates without Apple's extensions),
  ///   `signature` (one character is changed) or `algorithm` (the header says `none`). Nil for a genuine one.
  private func sign(_ payload: JSONObject, forge: String?) throws -> String {
    switch forge {
    case nil: return try signer.sign(payload)
    case "root": return try foreignRootSigner.sign(payload)
    case "marks": return try unmarkedSigner.sign(payload)
    case "signature":
      var bytes = Array(try signer.sign(payload).utf8)
      // The signature is the last 86 characters.
      let index = bytes.count - 40
      bytes[index] = bytes[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
      return String(decoding: bytes, as: UTF8.self)
    case "algorithm":
      let header = String(decoding: signer.header, as: UTF8.self).replacing("ES256", with: "none")
      return try JWSSigner.compact(
        header: Array(header.utf8), payload: JSONValue.object(payload).serialized, key: signer.key)
    default: throw ControlError("forge: root, marks, signature or algorithm")
    }
  }
}
