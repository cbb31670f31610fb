import Synchronization
import WireJSON

/// The App Store Server API and the APIs beside it (``APIEndpoint``), in both environments. For each request it finds the endpoint, checks
/// the token and the rate limit, and calls the endpoint. PurchaseEndpoints.swift has the endpoints for transactions and subscriptions.
final class AppStoreServerAPI: Sendable {
  /// An authenticated call.
  struct Call: Sendable {
    var request: SimulatedRequest
    /// The values of the path parameters.
    var values: [String]
    /// The app of the token.
    var app: SimulatedApp
    var environment: AppStoreEnvironment
    /// The time of the call, in milliseconds since 1970.
    var now: Int64
  }

  let ledger: PurchaseLedger
  let archive: NotificationArchive
  let factory: NotificationFactory
  let publisher: NotificationPublisher
  let history: NotificationHistory
  let limits = RateLimits()
  let extensions: RenewalExtensions
  let retention = RetentionSetup()
  let commerce: AdvancedCommerceEndpoints
  let reports = ExternalPurchaseReports()
  let time: SimulatedTime
  let random: SeededRandom
  private let tokens: TokenCheck
  /// The notificationUUIDs of test notifications, by their testNotificationToken.
  private let testNotifications = Mutex<[String: String]>([:])
  private let calls = Mutex<[JSONValue]>([])

  init(publisher: NotificationPublisher, apps: AppRegistry) {
    self.publisher = publisher
    factory = publisher.factory
    ledger = publisher.ledger
    archive = publisher.archive
    time = publisher.time
    random = publisher.random
    history = NotificationHistory(archive: archive, random: random)
    tokens = TokenCheck(apps: apps)
    extensions = RenewalExtensions(publisher: publisher)
    commerce = AdvancedCommerceEndpoints(publisher: publisher)
  }

  func reset() {
    history.reset()
    limits.reset()
    extensions.reset()
    retention.reset()
    commerce.reset()
    reports.reset()
    testNotifications.withLock { $0 = [:] }
    calls.withLock { $0 = [] }
  }

  /// The last `limit` calls, oldest first, for tests.
  func callLog(limit: Int) -> [JSONValue] { calls.withLock { $0.suffix(limit) } }

  func respond(to request: SimulatedRequest, path: [String], environment: AppStoreEnvironment) async
    -> SimulatedResponse
  {
    let response = await respond(request, path: path, environment: environment)
    var entry: JSONObject = [
      "atMilliseconds": .integer(time.now), "environment": .string(environment.rawValue),
      "method": .string(request.method),
      "path": .string(request.path), "status": .integer(response.status),
    ]
    // The path of a GET is the whole call. Other calls are logged with their bodies, except for large ones such as images.
    if request.method != "GET", request.body.count <= 65_536 { entry["body"] = try? JSONValue(parsing: request.body) }
    calls.withLock { $0.append(.object(entry)) }
    return response
  }

  private func respond(_ request: SimulatedRequest, path: [String], environment: AppStoreEnvironment) async
    -> SimulatedResponse
  {
    guard let (endpoint, values) = APIEndpoint.find(method: request.method, path) else { return .empty(404) }
    let now = time.now
    guard let app = tokens.app(authorization: request.header("authorization"), environment: environment, now: now)
    else {
      return .empty(401)
    }
    if let until = limits.blockedUntil(endpoint, bundleID: app.bundleID, environment: environment, time: time) {
      var response = APIError(4_290_000, "Rate limit exceeded.").response
      response.headers.append(("retry-after", String(until)))
      return response
    }
    let call = Call(request: request, values: values, app: app, environment: environment, now: now)
    do {
      return try await respond(call, endpoint)
    } catch let error as APIError {
      return error.response
    } catch {
      return APIError(5_000_000, "An unknown error occurred.").response
    }
  }

  private func respond(_ call: Call, _ endpoint: APIEndpoint) async throws -> SimulatedResponse {
    switch endpoint {
    case .transactionInfo: try transactionInfo(call)
    case .transactionHistory: try transactionHistory(call, leavingOutFinishedConsumables: false)
    case .transactionHistoryV1: try transactionHistory(call, leavingOutFinishedConsumables: true)
    case .appTransactionInfo: try appTransactionInfo(call)
    case .subscriptionStatuses: try subscriptionStatuses(call)
    case .setAppAccountToken: try setAppAccountToken(call)
    case .finishTransaction: try finish(call)
    case .consumption: try consumption(call)
    case .consumptionV1: try consumptionV1(call)
    case .orderLookup: call.environment == .production ? try orderLookup(call) : .empty(404)
    case .refundHistory: try refundHistory(call)
    case .refundHistoryV1: try refundHistoryV1(call)
    case .extendRenewalDate: try await extensions.single(call)
    case .massExtend: try await extensions.mass(call)
    case .massExtendStatus: try extensions.status(call)
    case .notificationHistory:
      .json(
        try history.respond(
          body: call.request.body, token: call.request.query("paginationToken"), bundleID: call.app.bundleID,
          environment: call.environment, now: call.now))
    case .testNotification: try await testNotification(call)
    case .testNotificationStatus: try testNotificationStatus(call)
    case .customerGroups:
      call.environment == .sandbox ? try customerGroups(call) : .empty(404)
    case .groupMembers:
      call.environment == .sandbox ? .json(["members": [], "hasMore": false]) : .empty(404)
    case .imageUpload, .imageDeletion, .imageList, .messageUpload, .messageDeletion, .messageList,
      .defaultMessageSetting, .defaultMessage, .defaultMessageDeletion, .realtimeURLSetting, .realtimeURL,
      .realtimeURLDeletion:
      try retention.respond(call, endpoint)
    case .performanceTest: call.environment == .sandbox ? try startPerformanceTest(call) : .empty(404)
    case .performanceTestResult: call.environment == .sandbox ? try retention.result(call) : .empty(404)
    case .metadataChange, .migration, .priceChange, .cancellation, .revocation, .refundRequest:
      try await commerce.respond(call, endpoint)
    case .externalPurchaseReport: try reports.send(call)
    case .externalPurchaseRetrieval: try reports.retrieve(call)
    }
  }

  /// *Initiate Performance Test* for a purchase in the sandbox, identified by its original transaction id.
  private func startPerformanceTest(_ call: Call) throws -> SimulatedResponse {
    guard let id = (try? JSONValue(parsing: call.request.body))?["originalTransactionId"]?.stringValue else {
      throw APIError(4_000_211, "Invalid request. The performance test request is invalid.")
    }
    guard let customer = ledger.customer(id, bundleID: call.app.bundleID, environment: call.environment) else {
      throw APIError(4_000_006, "Invalid request. The transaction id is invalid.")
    }
    guard let subscription = customer.subscriptions.first(where: { $0.originalID == id }) else {
      throw APIError(4_000_187, "Invalid request. The transaction id is not an original transaction id.")
    }
    return try retention.startTest(call, subscription, requestID: random.uuid())
  }

  private func testNotification(_ call: Call) async throws -> SimulatedResponse {
    guard call.app.notificationURLs[call.environment] != nil else {
      throw APIError(4_040_007, "No App Store Server Notification URL found for provided app.")
    }
    let record = try factory.detached(
      SimulatedSubscription.Event(type: "TEST"), app: call.app, environment: call.environment, at: call.now, overrides: [:])
    let token = "\(random.uuid())_\(call.now)"
    testNotifications.withLock { $0[token] = record.uuid }
    await publisher.publish(record, app: call.app)
    return .json(["testNotificationToken": .string(token)])
  }

  private func testNotificationStatus(_ call: Call) throws -> SimulatedResponse {
    let token = call.values[0]
    let parts = token.split(separator: "_")
    guard parts.count == 2, parts[0].count == 36, Int64(parts[1]) != nil else {
      throw APIError(4_000_020, "Invalid request. The test notification token is invalid.")
    }
    guard let uuid = testNotifications.withLock({ $0[token] }), let record = archive.record(uuid), !record.attempts.isEmpty,
      record.bundleID == call.app.bundleID, record.environment == call.environment
    else {
      throw APIError(
        4_040_008, "Either the test notification token is expired or the notification and status are not yet available."
      )
    }
    return .json(record.historyItem)
  }
}
