import WireJSON

/// Creates notifications for control requests, stores them in the archive and sends them. The endpoints of the simulated APIs publish their
/// notifications with ``publish(_:app:)``.
struct NotificationPublisher: Sendable {
  let factory: NotificationFactory
  let archive: NotificationArchive
  let sender: NotificationSender
  let apps: AppRegistry
  let ledger: PurchaseLedger
  let time: SimulatedTime
  let random: SeededRandom

  /// `POST /control/notifications`: one notification, or `count` of them.
  func makeNotifications(_ request: JSONObject) async throws -> JSONValue {
    let (app, environment) = try target(request)
    guard let type = request["notificationType"]?.stringValue else { throw ControlError("notificationType: required") }
    let event = SimulatedSubscription.Event(type: type, subtype: request["subtype"]?.stringValue)
    let count = request["count"]?.int64Value ?? 1
    guard (1...100_000).contains(count) else { throw ControlError("count: 1 to 100000") }
    let spread = request["spreadMilliseconds"]?.int64Value ?? 0
    guard spread >= 0 else { throw ControlError("spreadMilliseconds: not below 0") }
    let first = request["signedDate"]?.int64Value ?? time.now
    let isBrief = request["brief"]?.boolValue ?? false
    var created: [JSONValue] = []
    for index in 0..<count {
      var one = request
      if spread > 0 { one["signedDate"] = .integer(first + spread * index / count) }
      let record = try single(event, one, app: app, environment: environment)
      archive.add(record)
      try await deliver(record, request, app: app)
      created.append(
        isBrief ? .string(record.uuid) : .object((archive.record(record.uuid) ?? record).controlJSON))
    }
    if request["count"] == nil { return created[0] }
    return ["notifications": .array(created)]
  }

  /// `POST /control/notifications/story`: the life cycle of a subscription, one notification for each step.
  func makeStory(_ request: JSONObject) async throws -> JSONValue {
    let (app, environment) = try target(request)
    let defaultSteps: [JSONValue] = ["buy", "renew", "grace", "recover", "cancel", "expire", "resubscribe", "refund"]
    let player = try StoryPlayer(request["steps"]?.arrayValue ?? defaultSteps)
    var subscription =
      try existingSubscription(request, app: app, environment: environment)
      ?? factory.newSubscription(request, app: app, environment: environment)
    let start = try request["startDate"]?.int64Value ?? (time.now - player.duration(of: subscription))
    let latest = request["startDate"] == nil ? time.now : Int64.max
    var notifications: [(record: NotificationRecord, options: JSONObject, step: StoryStep)] = []
    try player.play(&subscription, from: start, latest: latest, newID: factory.newTransactionID) { planned, subscription, event, date in
      notifications.append(
        (
          try factory.notification(event, of: subscription, app: app, at: date, overrides: planned.options), planned.options,
          planned.step
        ))
    }
    try store(subscription)
    var created: [JSONValue] = []
    for (record, options, step) in notifications {
      archive.add(record)
      var merged = request
      merged.merge(options)
      try await deliver(record, merged, app: app)
      var json = (archive.record(record.uuid) ?? record).controlJSON
      json["step"] = .string(step.rawValue)
      created.append(.object(json))
    }
    return [
      "originalTransactionId": .string(subscription.originalID), "appTransactionId": .string(subscription.appTransactionID),
      "status": .integer(subscription.status), "notifications": .array(created),
    ]
  }

  /// `POST /control/notifications/send`: sends a stored notification again, unchanged.
  func sendAgain(_ request: JSONObject) async throws -> JSONValue {
    guard let uuid = request["notificationUUID"]?.stringValue, let record = archive.record(uuid),
      let app = apps.app(record.bundleID)
    else { throw ControlError("notificationUUID: no stored notification has it") }
    var resend = request
    resend["send"] = true
    try await deliver(record, resend, app: app)
    return .object((archive.record(uuid) ?? record).controlJSON)
  }

  /// Stores and sends a notification that an endpoint has created, such as a test notification.
  func publish(_ record: NotificationRecord, app: SimulatedApp) async {
    archive.add(record)
    guard let url = app.notificationURLs[record.environment] else { return }
    await sender.send(record, to: url, awaitingFirst: false)
  }

  /// Sends the notification if `send` is true or a `url` is given.
  private func deliver(_ record: NotificationRecord, _ request: JSONObject, app: SimulatedApp) async throws {
    let givenURL = request["url"]?.stringValue.flatMap { OutgoingURL($0) }
    guard request["send"]?.boolValue ?? (givenURL != nil) else { return }
    guard let url = givenURL ?? app.notificationURLs[record.environment] else {
      throw ControlError("send: no URL is configured for \(app.bundleID) in \(record.environment.rawValue)")
    }
    await sender.send(record, to: url, awaitingFirst: request["wait"]?.boolValue ?? true)
  }

  /// The app and the environment that a control request names.
  private func target(_ request: JSONObject) throws -> (SimulatedApp, AppStoreEnvironment) {
    guard let bundleID = request["bundleId"]?.stringValue else { throw ControlError("bundleId: required") }
    let name = request["environment"]?.stringValue ?? "Production"
    guard let environment = AppStoreEnvironment(rawValue: name) else {
      throw ControlError("environment: Production or Sandbox")
    }
    guard var app = apps.app(bundleID) else {
      throw ControlError("bundleId: \(bundleID) is not registered (POST /control/apps)")
    }
    if let id = request["appAppleId"]?.int64Value { app.appAppleID = id }
    return (app, environment)
  }

  /// Creates one notification: applies its event to the named purchase, or first generates a purchase.
  private func single(
    _ event: SimulatedSubscription.Event, _ request: JSONObject, app: SimulatedApp, environment: AppStoreEnvironment
  )
    throws -> NotificationRecord
  {
    let date = request["signedDate"]?.int64Value ?? time.now
    if event.type == "ONE_TIME_CHARGE" {
      let transaction = try buyProduct(request, app: app, environment: environment, at: date)
      return try factory.product(event, of: transaction, app: app, environment: environment, at: date, overrides: request)
    }
    if let transaction = try changedProduct(event, request, app: app, environment: environment, at: date) {
      return try factory.product(event, of: transaction, app: app, environment: environment, at: date, overrides: request)
    }
    guard let steps = StoryStep.leading(to: event.type, event.subtype) else {
      return try factory.detached(event, app: app, environment: environment, at: date, overrides: request)
    }
    var subscription: SimulatedSubscription
    if let existing = try existingSubscription(request, app: app, environment: environment) {
      subscription = existing
      _ = try subscription.apply(steps[steps.count - 1], at: date, newID: factory.newTransactionID)
    } else {
      subscription = factory.newSubscription(request, app: app, environment: environment)
      let player = StoryPlayer(steps)
      try player.play(&subscription, from: date - player.duration(of: subscription), newID: factory.newTransactionID) { _, _, _, _ in }
    }
    try store(subscription)
    return try factory.notification(event, of: subscription, app: app, at: date, overrides: request)
  }

  /// The subscription that `originalTransactionId` names; nil if the request does not name one.
  private func existingSubscription(_ request: JSONObject, app: SimulatedApp, environment: AppStoreEnvironment) throws
    -> SimulatedSubscription?
  {
    guard let id = request["originalTransactionId"]?.stringValue else { return nil }
    let customer = ledger.customer(id, bundleID: app.bundleID, environment: environment)
    guard let subscription = customer?.subscriptions.first(where: { $0.transactions.contains { $0.id == id } }) else {
      throw ControlError("originalTransactionId: no subscription has it")
    }
    return subscription
  }

  /// Replaces a subscription in the ledger, or adds it with a new customer.
  func store(_ subscription: SimulatedSubscription) throws {
    let known = try ledger.change(
      subscription.originalID, bundleID: subscription.bundleID, environment: subscription.environment
    ) { customer in
      guard let index = customer.subscriptions.firstIndex(where: { $0.originalID == subscription.originalID }) else {
        return false
      }
      customer.subscriptions[index] = subscription
      return true
    }
    if known == true { return }
    ledger.add(
      Customer(
        bundleID: subscription.bundleID, environment: subscription.environment, appTransactionID: subscription.appTransactionID,
        subscriptions: [subscription], firstSeen: subscription.transactions[0].purchaseDate))
  }

  /// Makes a one-time purchase by the customer that `originalTransactionId` or `customer` names, or by a new customer.
  func buyProduct(_ request: JSONObject, app: SimulatedApp, environment: AppStoreEnvironment, at date: Int64) throws
    -> TransactionFacts
  {
    let id = factory.newTransactionID()
    let owner = request["originalTransactionId"]?.stringValue ?? request["customer"]?.stringValue
    let known = owner.flatMap { ledger.customer($0, bundleID: app.bundleID, environment: environment) }
    let appTransactionID = known?.appTransactionID ?? factory.newAppTransactionID()
    var fields: JSONObject = [
      "transactionId": .string(id), "originalTransactionId": .string(id), "bundleId": .string(app.bundleID),
      "productId": request["productId"] ?? .string(app.bundleID + ".coins"), "purchaseDate": .integer(date),
      "originalPurchaseDate": .integer(date), "quantity": 1, "type": request["productType"] ?? "Consumable",
      "inAppOwnershipType": "PURCHASED", "environment": .string(environment.rawValue), "transactionReason": "PURCHASE",
      "storefront": "USA", "storefrontId": "143441", "price": 990, "currency": "USD",
      "appTransactionId": .string(appTransactionID),
    ]
    fields.merge(request["transaction"]?.objectValue)
    let transaction = TransactionFacts(fields: fields, modified: date, orderID: "M" + random.digits(9))
    if let owner, known != nil {
      _ = try ledger.change(owner, bundleID: app.bundleID, environment: environment) { $0.products.append(transaction) }
    } else {
      ledger.add(
        Customer(
          bundleID: app.bundleID, environment: environment, appTransactionID: appTransactionID, products: [transaction],
          firstSeen: date))
    }
    return transaction
  }

  /// Applies an event to the one-time purchase that `originalTransactionId` names. Returns nil if no one-time purchase has this id.
  private func changedProduct(
    _ event: SimulatedSubscription.Event, _ request: JSONObject, app: SimulatedApp, environment: AppStoreEnvironment, at date: Int64
  ) throws -> TransactionFacts? {
    guard let id = request["originalTransactionId"]?.stringValue else { return nil }
    let changed = try ledger.change(id, bundleID: app.bundleID, environment: environment) { customer -> TransactionFacts? in
      guard let index = customer.products.firstIndex(where: { $0.id == id }) else { return nil }
      customer.products[index].apply(event.type, at: date)
      return customer.products[index]
    }
    return changed.flatMap { $0 }
  }
}
