import Synchronization
import WireJSON

/// The server endpoints of the *Advanced Commerce API*. A call changes the purchase in the ledger and causes a notification, as Apple
/// documents it.
final class AdvancedCommerceEndpoints: Sendable {
  private let publisher: NotificationPublisher
  /// The requestReferenceIds of completed requests, as `environment/bundle/requestReferenceId`.
  private let references = Mutex<Set<String>>([])

  init(publisher: NotificationPublisher) { self.publisher = publisher }

  func reset() { references.withLock { $0 = [] } }

  func respond(_ call: AppStoreServerAPI.Call, _ endpoint: APIEndpoint) async throws -> SimulatedResponse {
    guard let body = (try? JSONValue(parsing: call.request.body))?.objectValue else {
      throw APIError(4_000_173, "The payload is malformed.")
    }
    guard let info = body["requestInfo"] else { throw APIError(4_000_079, "Request info is required.") }
    guard let reference = info["requestReferenceId"]?.stringValue else {
      throw APIError(4_000_080, "Request reference id is required.")
    }
    guard isUUID(reference) else { throw APIError(4_000_081, "Request reference id is invalid.") }
    if let storefront = body["storefront"]?.stringValue, storefront.count != 3 {
      throw APIError(4_000_028, "Storefront is invalid.")
    }
    let key = "\(call.environment.rawValue)/\(call.app.bundleID)/\(reference.lowercased())"
    // Apple documents this error for all calls except these two, whose repetition sets the same state again.
    if endpoint != .cancellation, endpoint != .priceChange, references.withLock({ $0.contains(key) }) {
      throw APIError(4_000_097, "The request reference id was repeated.")
    }
    let id = call.values[0]
    guard let customer = publisher.ledger.customer(id, bundleID: call.app.bundleID, environment: call.environment) else {
      throw APIError.transactionNotFound
    }
    guard let known = customer.subscriptions.first(where: { $0.transactions.contains { $0.id == id } }) else {
      guard endpoint == .refundRequest else { throw APIError(4_030_008, "The subscription does not exist.") }
      return try await refundProduct(id, body, reference, call, key)
    }
    var subscription = known
    let event = try Self.change(&subscription, endpoint, body, reference: reference, call)
    try publisher.store(subscription)
    references.withLock { _ = $0.insert(key) }
    let record = try publisher.factory.notification(event, of: subscription, app: call.app, at: call.now, overrides: [:])
    await publisher.publish(record, app: call.app)
    return .json([
      "signedTransactionInfo": .string(try publisher.factory.signer.sign(subscription.current.payload(signedDate: call.now))),
      "signedRenewalInfo": .string(try publisher.factory.signer.sign(subscription.renewalInfo(signedDate: call.now))),
    ])
  }

  /// Applies a call to the subscription. Returns the event of its notification.
  private static func change(
    _ subscription: inout SimulatedSubscription, _ endpoint: APIEndpoint, _ body: JSONObject, reference: String,
    _ call: AppStoreServerAPI.Call
  ) throws -> SimulatedSubscription.Event {
    if endpoint == .migration { return try migrate(&subscription, body, reference, call) }
    guard var info = subscription.commerce else { throw APIError(4_030_010, "The subscription is not eligible.") }
    info["requestReferenceId"] = .string(reference)
    info["consistencyToken"] = .string("1.\(subscription.originalID).\(reference)")
    switch endpoint {
    case .metadataChange:
      info["descriptors"] = merged(info["descriptors"], body["descriptors"])
      if let code = body["taxCode"] { info["taxCode"] = code }
      let changes = body["items"]?.arrayValue ?? []
      guard !(changes.isEmpty && body["descriptors"] == nil && body["taxCode"] == nil) else {
        throw APIError(4_000_160, "At least one item is required.")
      }
      var items = info["items"]?.arrayValue ?? []
      for change in changes {
        guard ["IMMEDIATELY", "NEXT_BILL_CYCLE"].contains(change["effective"]?.stringValue ?? "") else {
          throw APIError(4_000_111, "Effective is required.")
        }
        guard let index = items.firstIndex(where: { $0["SKU"] == change["currentSKU"] }) else {
          throw APIError(4_000_121, "The product is invalid.")
        }
        items[index] = merged(items[index], change) ?? items[index]
      }
      info["items"] = .array(items)
      subscription.setCommerce(info, isCurrent: true, at: call.now)
      return SimulatedSubscription.Event(type: "METADATA_UPDATE")
    case .priceChange:
      guard subscription.status == 1 else { throw APIError(4_030_010, "The subscription is not eligible.") }
      guard let changes = body["items"]?.arrayValue, !changes.isEmpty else { throw APIError(4_000_101, "Items are required.") }
      var items = info["items"]?.arrayValue ?? []
      for change in changes {
        guard let price = change["price"]?.int64Value, price >= 0 else { throw APIError(4_000_086, "The price is negative.") }
        guard let index = items.firstIndex(where: { $0["SKU"] == change["SKU"] }), var item = items[index].objectValue else {
          throw APIError(4_000_220, "The SKU must be a current SKU set to renew.")
        }
        item["price"] = .integer(price)
        items[index] = .object(item)
      }
      info["items"] = .array(items)
      subscription.setCommerce(info, isCurrent: false, at: call.now)
      return SimulatedSubscription.Event(type: "PRICE_CHANGE")
    case .cancellation:
      subscription.setCommerce(info, isCurrent: true, at: call.now)
      return try subscription.apply(.cancel, at: call.now, newID: { "" })
    case .revocation, .refundRequest:
      if endpoint == .revocation, subscription.status != 1 { throw APIError(4_000_186, "The subscription is inactive.") }
      guard subscription.current.revocationDate == nil else { throw APIError(4_030_021, "Already refunded.") }
      let reasons = [body["refundReason"]] + (body["items"]?.arrayValue ?? []).map { $0["refundReason"] }
      guard body["refundRiskingPreference"]?.boolValue != nil else {
        throw APIError(4_000_159, "Refund risking preference is required.")
      }
      if reasons.contains("SIMULATE_REFUND_DECLINE") {
        guard call.environment == .sandbox else { throw APIError(4_000_158, "Only in the sandbox.") }
        subscription.setCommerce(info, isCurrent: true, at: call.now)
        return SimulatedSubscription.Event(type: "REFUND_DECLINED")
      }
      subscription.setCommerce(info, isCurrent: true, at: call.now)
      if endpoint == .revocation { subscription.stopRenewing() }
      return try subscription.apply(.refund, at: call.now, newID: { "" })
    default: throw APIError(4_000_135, "The operation is not allowed.")
    }
  }

  private static func migrate(
    _ subscription: inout SimulatedSubscription, _ body: JSONObject, _ reference: String, _ call: AppStoreServerAPI.Call
  ) throws -> SimulatedSubscription.Event {
    guard subscription.commerce == nil else { throw APIError(4_000_176, "The subscription was already migrated.") }
    guard subscription.status == 1 else { throw APIError(4_030_010, "The subscription is not eligible.") }
    guard let descriptors = body["descriptors"] else { throw APIError(4_000_103, "Descriptors are required.") }
    guard let items = body["items"]?.arrayValue, !items.isEmpty else { throw APIError(4_000_101, "Items are required.") }
    guard let target = body["targetProductId"]?.stringValue else { throw APIError(4_000_166, "Target product id is required.") }
    guard let tax = body["taxCode"] else { throw APIError(4_000_099, "Tax code is required.") }
    for item in items {
      guard let sku = item["SKU"]?.stringValue else { throw APIError(4_000_105, "SKU is required.") }
      guard sku.count <= 128 else { throw APIError(4_000_087, "The SKU is too long.") }
    }
    let price = subscription.price
    let info: JSONObject = [
      "taxCode": tax, "descriptors": descriptors, "period": "P1M", "requestReferenceId": .string(reference),
      "consistencyToken": .string("1.\(subscription.originalID).\(reference)"),
      "items": .array(
        items.enumerated().map { index, item in
          var object = item.objectValue ?? [:]
          object["price"] = .integer(index == 0 ? price : 0)
          return .object(object)
        }),
    ]
    subscription.setCommerce(info, isCurrent: true, productID: target, at: call.now)
    return SimulatedSubscription.Event(type: "MIGRATION")
  }

  /// Refunds a one-time charge.
  private func refundProduct(
    _ id: String, _ body: JSONObject, _ reference: String, _ call: AppStoreServerAPI.Call, _ key: String
  ) async throws -> SimulatedResponse {
    let changed = try publisher.ledger.change(id, bundleID: call.app.bundleID, environment: call.environment) {
      customer -> TransactionFacts in
      guard let index = customer.products.firstIndex(where: { $0.id == id }) else { throw APIError(4_030_013, "Not owned.") }
      guard customer.products[index].revocationDate == nil else { throw APIError(4_030_021, "Already refunded.") }
      customer.products[index].fields["revocationDate"] = .integer(call.now)
      customer.products[index].fields["revocationReason"] = 0
      customer.products[index].fields["advancedCommerceInfo"] = ["requestReferenceId": .string(reference)]
      customer.products[index].modified = call.now
      return customer.products[index]
    }
    guard let transaction = changed else { throw APIError.transactionNotFound }
    references.withLock { _ = $0.insert(key) }
    return .json(["signedTransactionInfo": .string(try publisher.factory.signer.sign(transaction.payload(signedDate: call.now)))])
  }

  /// Merges two objects; members of the second one take precedence. `effective` and `currentSKU` are not copied, because they describe the
  /// change and are not part of the item.
  private static func merged(_ value: JSONValue?, _ changes: JSONValue?) -> JSONValue? {
    guard let changes = changes?.objectValue else { return value }
    var object = value?.objectValue ?? [:]
    for member in changes.members where member.key != "effective" && member.key != "currentSKU" { object[member.key] = member.value }
    return .object(object)
  }
}
