import WireJSON

/// The endpoints for transactions, subscriptions, orders and refunds.
extension AppStoreServerAPI {
  /// The customer of the id in the path: a transactionId, an originalTransactionId or an appTransactionId of the customer.
  private func customer(_ call: Call, notFound: APIError = .transactionNotFound) throws -> Customer {
    let identifier = call.values[0]
    guard !identifier.isEmpty, identifier.utf8.count <= 64, identifier.utf8.allSatisfy({ (48...57).contains($0) })
    else {
      throw APIError.invalidTransactionID
    }
    guard let customer = ledger.customer(identifier, bundleID: call.app.bundleID, environment: call.environment) else {
      throw notFound
    }
    return customer
  }

  /// The transaction whose id is in the path, with its customer. An appTransactionId is refused.
  private func transaction(_ call: Call) throws -> (customer: Customer, transaction: TransactionFacts) {
    let customer = try customer(call)
    guard let transaction = customer.transactions.first(where: { $0.id == call.values[0] }) else {
      throw APIError(4_000_048, "Invalid request. App transaction id is not supported.")
    }
    return (customer, transaction)
  }

  private func sign(_ transactions: [TransactionFacts], at now: Int64) throws -> JSONValue {
    .array(try transactions.map { .string(try factory.signer.sign($0.payload(signedDate: now))) })
  }

  /// The members that describe the app in an answer.
  private func owner(_ call: Call) -> JSONObject {
    var object: JSONObject = [
      "bundleId": .string(call.app.bundleID), "environment": .string(call.environment.rawValue),
    ]
    if call.environment == .production { object["appAppleId"] = call.app.appAppleID.map { .integer($0) } }
    return object
  }

  func transactionInfo(_ call: Call) throws -> SimulatedResponse {
    let found = try transaction(call).transaction
    return .json(["signedTransactionInfo": .string(try factory.signer.sign(found.payload(signedDate: call.now)))])
  }

  func appTransactionInfo(_ call: Call) throws -> SimulatedResponse {
    let customer = try customer(call)
    guard customer.hasAppTransaction else { throw APIError(4_040_019, "No AppTransaction exists for the customer.") }
    let payload = factory.appTransaction(
      app: call.app, environment: call.environment, id: customer.appTransactionID, firstSeen: customer.firstSeen,
      at: call.now)
    return .json(["signedAppTransactionInfo": .string(try factory.signer.sign(payload))])
  }

  func transactionHistory(_ call: Call, leavingOutFinishedConsumables: Bool) throws -> SimulatedResponse {
    let customer = try customer(call)
    let query = try TransactionQuery(call.request, customer: customer.appTransactionID)
    let found = customer.transactions.filter { transaction in
      query.matches(transaction)
        && !(leavingOutFinishedConsumables && transaction.fields["type"]?.stringValue == "Consumable"
          && customer.finished.contains(transaction.id))
    }
    let (page, revision, hasMore) = try TransactionQuery.page(
      found, by: \.modified, descending: query.descending, revision: call.request.query("revision"),
      digest: query.digest)
    var response = owner(call)
    response.merge([
      "revision": .string(revision), "hasMore": .bool(hasMore), "signedTransactions": try sign(page, at: call.now),
    ])
    return .json(.object(response))
  }

  func refundHistory(_ call: Call) throws -> SimulatedResponse {
    let customer = try customer(call)
    let refunds = customer.transactions.filter { $0.revocationDate != nil && !$0.isFamilyShared }
    let digest = String(Digest.hex(Digest.sha256(Array(("refunds " + customer.appTransactionID).utf8))).prefix(16))
    let (page, revision, hasMore) = try TransactionQuery.page(
      refunds, by: { $0.revocationDate ?? 0 }, descending: false, revision: call.request.query("revision"),
      digest: digest)
    return .json([
      "signedTransactions": try sign(page, at: call.now), "revision": .string(revision), "hasMore": .bool(hasMore),
    ])
  }

  func refundHistoryV1(_ call: Call) throws -> SimulatedResponse {
    let refunds = try customer(call, notFound: .originalTransactionNotFound).transactions.filter {
      $0.revocationDate != nil
    }
    return .json(["signedTransactions": try sign(Array(refunds.prefix(50)), at: call.now)])
  }

  func orderLookup(_ call: Call) throws -> SimulatedResponse {
    let order = call.values[0]
    guard let customer = ledger.customer(order: order, bundleID: call.app.bundleID, environment: call.environment)
    else {
      return .json(["status": 1])
    }
    let found = customer.transactions.filter { $0.orderID == order }
    return .json(["status": 0, "signedTransactions": try sign(found, at: call.now)])
  }

  func subscriptionStatuses(_ call: Call) throws -> SimulatedResponse {
    let statuses = try Set(
      call.request.queryValues("status").map { text in
        guard let status = Int(text), (1...5).contains(status) else { throw APIError(4_000_031, "Invalid status.") }
        return status
      })
    let customer = try customer(call)
    var groups: [(id: String, transactions: [JSONValue])] = []
    for subscription in customer.subscriptions where statuses.isEmpty || statuses.contains(subscription.status) {
      let entry: JSONValue = [
        "originalTransactionId": .string(subscription.originalID), "status": .integer(subscription.status),
        "signedTransactionInfo": .string(try factory.signer.sign(subscription.current.payload(signedDate: call.now))),
        "signedRenewalInfo": .string(try factory.signer.sign(subscription.renewalInfo(signedDate: call.now))),
      ]
      if let index = groups.firstIndex(where: { $0.id == subscription.groupID }) {
        groups[index].transactions.append(entry)
      } else {
        groups.append((subscription.groupID, [entry]))
      }
    }
    var response = owner(call)
    response["data"] = .array(
      groups.map { ["subscriptionGroupIdentifier": .string($0.id), "lastTransactions": .array($0.transactions)] })
    return .json(.object(response))
  }

  func setAppAccountToken(_ call: Call) throws -> SimulatedResponse {
    guard let body = (try? JSONValue(parsing: call.request.body))?.objectValue else { throw APIError.badRequest }
    guard let token = body["appAccountToken"]?.stringValue, isUUID(token) else {
      throw APIError(4_000_183, "Invalid request. The app account token field must be a valid UUID.")
    }
    let (_, transaction) = try transaction(call)
    guard transaction.id == transaction.originalID else {
      throw APIError(4_000_187, "Invalid request. The transaction id is not an original transaction id.")
    }
    guard !transaction.isFamilyShared else {
      throw APIError(4_000_185, "Invalid request. Family transactions aren't supported.")
    }
    _ = try ledger.change(transaction.id, bundleID: call.app.bundleID, environment: call.environment) { customer in
      for index in customer.subscriptions.indices where customer.subscriptions[index].originalID == transaction.id {
        customer.subscriptions[index].setAppAccountToken(token, at: call.now)
      }
      for index in customer.products.indices where customer.products[index].id == transaction.id {
        customer.products[index].fields["appAccountToken"] = .string(token)
        customer.products[index].modified = call.now
      }
    }
    return .empty(200)
  }

  func finish(_ call: Call) throws -> SimulatedResponse {
    let id = try transaction(call).transaction.id
    _ = try ledger.change(id, bundleID: call.app.bundleID, environment: call.environment) { $0.finished.insert(id) }
    return .empty(200)
  }

  func customerGroups(_ call: Call) throws -> SimulatedResponse {
    _ = try customer(call)
    return .json(["groups": []])
  }

  /// *Send Consumption Information*.
  func consumption(_ call: Call) throws -> SimulatedResponse {
    guard let body = (try? JSONValue(parsing: call.request.body))?.objectValue else { throw APIError.badRequest }
    guard body["customerConsented"]?.boolValue == true else {
      throw APIError(4_000_035, "Invalid request. The customer consented field is invalid.")
    }
    guard body["sampleContentProvided"]?.boolValue != nil else {
      throw APIError(4_000_041, "Invalid request. The sample content provided field is invalid.")
    }
    let statuses = [
      "DELIVERED", "UNDELIVERED_QUALITY_ISSUE", "UNDELIVERED_WRONG_ITEM", "UNDELIVERED_SERVER_OUTAGE",
      "UNDELIVERED_OTHER",
    ]
    guard let delivery = body["deliveryStatus"]?.stringValue, statuses.contains(delivery) else {
      throw APIError(4_000_036, "Invalid request. The delivery status field is invalid.")
    }
    // Apple documents the next three errors without codes, so the general code is used.
    if let percentage = body["consumptionPercentage"] {
      guard let milliunits = percentage.int64Value, (0...100_000).contains(milliunits),
        delivery == "DELIVERED" || milliunits == 0
      else { throw APIError.badRequest }
    }
    if let preference = body["refundPreference"],
      !["GRANT_FULL", "DECLINE", "GRANT_PRORATED"].contains(preference.stringValue ?? "")
    {
      throw APIError.badRequest
    }
    return try storeConsumption(call, body)
  }

  /// *Send Consumption Information V1*.
  func consumptionV1(_ call: Call) throws -> SimulatedResponse {
    guard let body = (try? JSONValue(parsing: call.request.body))?.objectValue else { throw APIError.badRequest }
    func check(_ name: String, _ range: ClosedRange<Int64>, _ error: Int64) throws {
      guard let value = body[name]?.int64Value, range.contains(value) else {
        throw APIError(error, "Invalid request. \(name) is invalid.")
      }
    }
    guard let token = body["appAccountToken"]?.stringValue, token.isEmpty || isUUID(token) else {
      throw APIError(4_000_033, "Invalid request. The app account token field is invalid.")
    }
    guard body["customerConsented"]?.boolValue == true else {
      throw APIError(4_000_035, "Invalid request. The customer consented field is invalid.")
    }
    guard body["sampleContentProvided"]?.boolValue != nil else {
      throw APIError(4_000_041, "Invalid request. The sample content provided field is invalid.")
    }
    try check("accountTenure", 0...7, 4_000_032)
    try check("consumptionStatus", 0...3, 4_000_034)
    try check("deliveryStatus", 0...5, 4_000_036)
    try check("lifetimeDollarsPurchased", 0...7, 4_000_037)
    try check("lifetimeDollarsRefunded", 0...7, 4_000_038)
    try check("platform", 0...2, 4_000_039)
    try check("playTime", 0...7, 4_000_040)
    try check("userStatus", 0...4, 4_000_042)
    try check("refundPreference", 0...3, 4_000_000)
    return try storeConsumption(call, body)
  }

  private func storeConsumption(_ call: Call, _ body: JSONObject) throws -> SimulatedResponse {
    let id = try transaction(call).transaction.id
    var entry = body
    entry["transactionId"] = .string(id)
    let stored = entry
    _ = try ledger.change(id, bundleID: call.app.bundleID, environment: call.environment) {
      $0.consumption.append(stored)
    }
    return .empty(202)
  }
}

/// True for a UUID: 32 hexadecimal digits with hyphens at the right positions.
func isUUID(_ text: String) -> Bool {
  let parts = text.split(separator: "-", omittingEmptySubsequences: false)
  return parts.map(\.count) == [8, 4, 4, 4, 12] && parts.joined().allSatisfy { $0.isASCII && $0.isHexDigit }
}
