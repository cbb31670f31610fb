import AppStore
import AttributionQueue
import ServiceRuntime
import WireJSON

/// Reads all pages of Get Transaction History for one customer. Every JWS is verified; one that cannot be used does not affect the others.
struct TransactionHistory: Sendable {
  /// A transaction, as its JWS and as the decoded payload.
  struct Transaction: Sendable {
    let jws: String
    let payload: JSONObject
    let environment: String
    /// The app whose key fetched the transaction. The payload may lack it.
    let bundleId: String

    var transactionId: String? { payload["transactionId"]?.stringValue }

    /// Queues the transaction in the intake for verifier, which publishes an event for each new state of a transaction.
    func enqueue(_ deliveries: DeliveryQueue, attributes: [String: String]) async throws(QueueError) {
      guard let original = payload["originalTransactionId"]?.stringValue ?? transactionId else { return }
      let key = TransactionObservation.naturalKey(environment: environment, transactionInfo: payload)
      let orderKey = NotificationSniffer.orderKey(environment: environment, originalTransactionId: original)
      // An event about this state of the transaction exists already.
      if try await deliveries.isNaturalKeySeen(key, orderKey: orderKey, long: true) { return }
      var attributes = attributes
      attributes["environment"] = environment
      attributes["bundleId"] = bundleId
      _ = try await deliveries.accept(
        AcceptRequest(
          queue: .intake, idempotencyKey: key, orderKey: orderKey, naturalKey: key,
          message: QueueMessage(
            kind: TransactionObservation.kind, body: Array(jws.utf8), attributes: attributes, receivedAt: WallClock.now(),
            source: QueueMessage.recoverySource)))
    }
  }

  /// All pages of a history.
  struct Content: Sendable {
    let server: AppStoreServer
    /// Each in its newest version, because Apple returns a transaction again if it is modified during paging.
    let transactions: [Transaction]
    /// The transactions that are not as expected. Their places are those on their pages.
    let problems: [AppStoreCalls.Problem]
  }

  /// The maximum number of pages. It only ends a history that would have no end: 2,000 pages of 20 transactions are more than a customer
  /// has.
  static let maxPages = 2000

  /// Requests one page; a nil server tries production, then the sandbox.
  typealias PageRequest =
    @Sendable (_ query: [(String, String)], _ server: AppStoreServer?, _ deadline: ContinuousClock.Instant)
    async throws(AppStoreServerAPIError)
    -> AppStoreCalls.Response

  private let bundleId: String
  private let server: AppStoreServer?
  private let requestPage: PageRequest

  init(bundleId: String, server: AppStoreServer?, requestPage: @escaping PageRequest) {
    self.bundleId = bundleId
    self.server = server
    self.requestPage = requestPage
  }

  /// A nil `server` tries production, then the sandbox. `transactionId` is any of the customer's.
  init(calls: AppStoreCalls, app: DeploymentConfiguration.App, server: AppStoreServer?, transactionId: String) {
    self.init(bundleId: app.bundleId, server: server) { (query, server, deadline) async throws(AppStoreServerAPIError) in
      try await calls.ask(.getTransactionHistory, app: app, server: server, path: [transactionId], query: query, deadline: deadline)
    }
  }

  /// Reads all pages.
  ///
  /// - Parameter pageTimeout: the timeout of each page with all its retries.
  func all(
    _ query: TransactionHistoryQuery = TransactionHistoryQuery(), pageTimeout: Duration
  ) async throws(AppStoreServerAPIError) -> Content {
    var query = query
    var server = server
    var order: [String] = []
    var newest: [String: Transaction] = [:]
    var problems: [AppStoreCalls.Problem] = []
    for _ in 0..<Self.maxPages {
      let items: [(String, String)]
      do throws(RequestRefusal) { items = try query.items() } catch {
        throw AppStoreServerAPIError(.permanent, message: "\(error)", server: server ?? .production)
      }
      let response = try await requestPage(items, server, .now + pageTimeout)
      server = response.server
      problems += response.problems
      let texts = (response.body["signedTransactions"]?.arrayValue ?? []).compactMap(\.stringValue)
      for (index, (jws, payload)) in zip(texts, response.decoded).enumerated() where !payload.isEmpty {
        guard let id = payload["transactionId"]?.stringValue else {
          problems.append(AppStoreCalls.Problem(index: index, kind: .transaction, reason: .malformed, field: "transactionId"))
          continue
        }
        let last = newest[id]?.payload["signedDate"]?.int64Value ?? .min
        if newest[id] == nil { order.append(id) }
        guard (payload["signedDate"]?.int64Value ?? 0) >= last else { continue }
        newest[id] = Transaction(jws: jws, payload: payload, environment: response.server.rawValue, bundleId: bundleId)
      }
      guard response.body["hasMore"]?.boolValue == true else {
        return Content(server: response.server, transactions: order.compactMap { newest[$0] }, problems: problems)
      }
      guard let revision = response.body["revision"]?.stringValue, revision != query.revision else {
        // The next page cannot be requested, and the pages so far are not the whole history.
        throw AppStoreServerAPIError(
          .server, message: "Apple announced another page of the history without a new revision", server: response.server)
      }
      query.revision = revision
    }
    throw AppStoreServerAPIError(
      .permanent, message: "the history has more than \(Self.maxPages) pages", server: server ?? .production)
  }
}
