import AppStore
import AttributionQueue
import ServiceRuntime
import WireJSON

/// All pages of Get Transaction History for one customer, each JWS verified.
struct TransactionHistory: Sendable {
  /// A transaction: its JWS and the decoded payload.
  struct Transaction: Sendable {
    let jws: String
    let payload: JSONObject
    let environment: String

    /// Queues it for verifier, which publishes an event for each new state of a transaction.
    func leave(_ deliveries: DeliveryQueue, attributes: [String: String]) async throws(QueueError) {
      guard let key = TransactionObservation.naturalKey(environment: environment, transactionInfo: payload),
        let original = payload["originalTransactionId"]?.stringValue
      else { return }
      let orderKey = NotificationSniffer.orderKey(environment: environment, originalTransactionId: original)
      // A transaction that is on the feed need not be verified again.
      if try await deliveries.isNaturalKeySeen(key, orderKey: orderKey, long: true) { return }
      var attributes = attributes
      attributes["environment"] = environment
      attributes["bundleId"] = payload["bundleId"]?.stringValue
      _ = try await deliveries.accept(
        AcceptRequest(
          queue: .intake, idempotencyKey: key, orderKey: orderKey, naturalKey: key,
          message: QueueMessage(
            kind: TransactionObservation.kind, body: Array(jws.utf8), attributes: attributes, receivedAt: WallClock.now(),
            source: "recovery")))
    }
  }

  /// The greatest number of pages, more than any customer has. A page has twenty transactions.
  static let maxPages = 2000

  /// Requests one page; a nil server tries production, then the sandbox.
  typealias Ask =
    @Sendable (_ query: [(String, String)], _ server: AppStoreServer?, _ deadline: ContinuousClock.Instant)
    async throws(AppStoreCallFailure)
    -> AppStoreCalls.Response

  private let server: AppStoreServer?
  private let ask: Ask

  init(server: AppStoreServer?, ask: @escaping Ask) {
    self.server = server
    self.ask = ask
  }

  /// A nil `server` tries production, then the sandbox. `transactionId` is any of the customer's.
  init(calls: AppStoreCalls, app: DeploymentConfiguration.App, server: AppStoreServer?, transactionId: String) {
    self.init(server: server) { (query, server, deadline) async throws(AppStoreCallFailure) in
      try await calls.ask(.getTransactionHistory, app: app, server: server, path: [transactionId], query: query, deadline: deadline)
    }
  }

  /// All transactions in their newest form, because one that is modified during paging comes again. The time limit is for each page with
  /// its retries, however many pages there are.
  func all(
    _ query: TransactionHistoryQuery = TransactionHistoryQuery(), pageTime: Duration
  ) async throws(AppStoreCallFailure) -> (server: AppStoreServer, transactions: [Transaction]) {
    var query = query
    var server = server
    var order: [String] = []
    var newest: [String: Transaction] = [:]
    for _ in 0..<Self.maxPages {
      let items: [(String, String)]
      do throws(RequestRefusal) { items = try query.items() } catch {
        throw .apple(AppStoreServerAPIError(.permanent, message: "\(error)", server: server ?? .production))
      }
      let response = try await ask(items, server, .now + pageTime)
      server = response.server
      let texts = (response.body["signedTransactions"]?.arrayValue ?? []).compactMap(\.stringValue)
      for (jws, payload) in zip(texts, response.decoded) {
        guard let id = payload["transactionId"]?.stringValue else { continue }
        let last = newest[id]?.payload["signedDate"]?.int64Value ?? .min
        if newest[id] == nil { order.append(id) }
        guard (payload["signedDate"]?.int64Value ?? 0) >= last else { continue }
        newest[id] = Transaction(jws: jws, payload: payload, environment: response.server.rawValue)
      }
      guard response.body["hasMore"]?.boolValue == true else { return (response.server, order.compactMap { newest[$0] }) }
      guard let revision = response.body["revision"]?.stringValue, revision != query.revision else {
        // What was read so far is not the whole history.
        throw .apple(
          AppStoreServerAPIError(
            .server, message: "Apple announced another page of the history without a new revision", server: response.server))
      }
      query.revision = revision
    }
    throw .apple(
      AppStoreServerAPIError(.permanent, message: "the history has more than \(Self.maxPages) pages", server: server ?? .production))
  }
}
