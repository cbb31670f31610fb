import Synchronization
import WireJSON

/// *Extend a Subscription Renewal Date* and *Extend Subscription Renewal Dates for All Active Subscribers*.
final class RenewalExtensions: Sendable {
  /// The simulated milliseconds after which a mass extension is reported as complete. Its changes are made immediately.
  static let massMilliseconds: Double = 3600 * 1000

  private struct Job: Sendable {
    var request: String
    var product: String
    var started: Int64
    var succeeded: Int
    var failed: Int
  }

  private let publisher: NotificationPublisher
  private let jobs = Mutex<[String: Job]>([:])

  init(publisher: NotificationPublisher) { self.publisher = publisher }

  func reset() { jobs.withLock { $0 = [:] } }

  func single(_ call: AppStoreServerAPI.Call) async throws -> SimulatedResponse {
    let id = call.values[0]
    guard !id.isEmpty, id.utf8.allSatisfy({ (48...57).contains($0) }) else {
      throw APIError(4_000_008, "Invalid original transaction id.")
    }
    let (body, days) = try validated(call)
    guard let request = body["requestIdentifier"]?.stringValue, !request.isEmpty, request.count <= 128 else {
      throw APIError(4_000_011, "Invalid request identifier.")
    }
    guard let subscription = try extend(id, days: days, call) else { throw APIError.originalTransactionNotFound }
    let event = SimulatedSubscription.Event(type: "RENEWAL_EXTENDED")
    let record = try publisher.factory.notification(event, of: subscription, app: call.app, at: call.now, overrides: [:])
    await publisher.publish(record, app: call.app)
    return .json([
      "originalTransactionId": .string(subscription.originalID),
      "webOrderLineItemId": subscription.current.fields["webOrderLineItemId"] ?? "",
      "success": true, "effectiveDate": .integer(subscription.current.expiresDate),
    ])
  }

  func mass(_ call: AppStoreServerAPI.Call) async throws -> SimulatedResponse {
    let (body, days) = try validated(call)
    guard let request = body["requestIdentifier"]?.stringValue, isUUID(request) else {
      throw APIError(4_000_011, "Invalid request identifier.")
    }
    guard let product = body["productId"]?.stringValue, !product.isEmpty else {
      throw APIError(4_000_023, "Invalid product id.")
    }
    if let storefronts = body["storefrontCountryCodes"] {
      guard let list = storefronts.arrayValue, !list.isEmpty else {
        throw APIError(4_000_027, "Empty storefront country code list.")
      }
      guard
        list.allSatisfy({
          $0.stringValue.map { $0.count == 3 && $0.allSatisfy { $0.isASCII && $0.isUppercase } } ?? false
        })
      else {
        throw APIError(4_000_028, "Invalid storefront country code.")
      }
    }
    let key = product + "/" + request.lowercased()
    if jobs.withLock({ $0[key] != nil }) { return .json(["requestIdentifier": .string(request)]) }
    var job = Job(request: request, product: product, started: call.now, succeeded: 0, failed: 0)
    let ids = publisher.ledger.activeSubscriptions(
      productID: product, bundleID: call.app.bundleID, environment: call.environment)
    for id in ids {
      do {
        guard let subscription = try extend(id, days: days, call) else { continue }
        job.succeeded += 1
        let event = SimulatedSubscription.Event(type: "RENEWAL_EXTENDED")
        await publisher.publish(
          try publisher.factory.notification(event, of: subscription, app: call.app, at: call.now, overrides: [:]), app: call.app)
      } catch is APIError {
        job.failed += 1
        let customer = publisher.ledger.customer(id, bundleID: call.app.bundleID, environment: call.environment)
        guard let subscription = customer?.subscriptions.first(where: { $0.originalID == id }) else { continue }
        let event = SimulatedSubscription.Event(type: "RENEWAL_EXTENSION", subtype: "FAILURE")
        await publisher.publish(
          try publisher.factory.notification(event, of: subscription, app: call.app, at: call.now, overrides: [:]), app: call.app)
      }
    }
    let done = job
    jobs.withLock { $0[key] = done }
    let summary: JSONObject = [
      "data": [
        "requestIdentifier": .string(request), "productId": .string(product),
        "storefrontCountryCodes": body["storefrontCountryCodes"] ?? [], "succeededCount": .integer(done.succeeded),
        "failedCount": .integer(done.failed),
      ]
    ]
    await publisher.publish(
      try publisher.factory.detached(
        SimulatedSubscription.Event(type: "RENEWAL_EXTENSION", subtype: "SUMMARY"), app: call.app,
        environment: call.environment,
        at: call.now, overrides: summary),
      app: call.app)
    return .json(["requestIdentifier": .string(request)])
  }

  func status(_ call: AppStoreServerAPI.Call) throws -> SimulatedResponse {
    guard isUUID(call.values[1]) else { throw APIError(4_000_011, "Invalid request identifier.") }
    guard let job = jobs.withLock({ $0[call.values[0] + "/" + call.values[1].lowercased()] }) else {
      throw APIError(
        4_040_009, "The server didn't find a subscription-renewal-date extension request for this identifier.")
    }
    guard publisher.time.age(since: job.started) >= Self.massMilliseconds else {
      return .json(["requestIdentifier": .string(job.request), "complete": false])
    }
    return .json([
      "requestIdentifier": .string(job.request), "complete": true,
      "completeDate": .integer(job.started + Int64(Self.massMilliseconds / publisher.time.scale)),
      "succeededCount": .integer(job.succeeded), "failedCount": .integer(job.failed),
    ])
  }

  /// The body and its `extendByDays`, after checks of the fields that both requests have.
  private func validated(_ call: AppStoreServerAPI.Call) throws -> (JSONObject, days: Int64) {
    guard let body = (try? JSONValue(parsing: call.request.body))?.objectValue else { throw APIError.badRequest }
    guard let days = body["extendByDays"]?.int64Value, (1...90).contains(days) else {
      throw APIError(4_000_009, "Invalid extend by days value.")
    }
    guard let reason = body["extendReasonCode"]?.int64Value, (0...3).contains(reason) else {
      throw APIError(4_000_010, "Invalid extend reason code.")
    }
    return (body, days)
  }

  /// Extends the subscription in the ledger. Returns nil if no customer has it.
  private func extend(_ id: String, days: Int64, _ call: AppStoreServerAPI.Call) throws -> SimulatedSubscription? {
    try publisher.ledger.change(id, bundleID: call.app.bundleID, environment: call.environment) {
      customer -> SimulatedSubscription in
      guard let index = customer.subscriptions.firstIndex(where: { $0.originalID == id }) else {
        throw APIError(4_000_008, "Invalid original transaction id.")
      }
      let subscription = customer.subscriptions[index]
      if subscription.current.isFamilyShared {
        throw APIError(4_030_007, "Subscriptions shared through Family Sharing can't be extended.")
      }
      guard subscription.status == 1, subscription.autoRenews else {
        throw APIError(4_030_004, "Forbidden - subscription state ineligible for extension.")
      }
      guard subscription.extensionDates.filter({ call.now - $0 < 365 * SimulatedSubscription.day }).count < 2 else {
        throw APIError(4_030_005, "Forbidden - subscription has reached maximum extension count.")
      }
      try customer.subscriptions[index].extend(byDays: days, at: call.now)
      return customer.subscriptions[index]
    }
  }
}
