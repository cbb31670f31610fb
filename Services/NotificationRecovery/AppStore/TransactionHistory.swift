import AppStore
import AttributionQueue
import ServiceRuntime
import WireJSON

/// All pages of Get Transaction History for one customer, each JWS proved.
struct TransactionHistory: Sendable {
  /// A transaction as Apple signed it and as it reads.
  struct Transaction: Sendable {
    let jws: String
    let payload: JSONObject
    let environment: String

    /// Leaves it for verifier, which makes an event of each state that it is seen in.
    func leave(_ deliveries: DeliveryQueue, attributes: [String: String]) async throws(QueueError) {
      guard let key = TransactionObservation.naturalKey(environment: environment, transactionInfo: payload),
        let original = payload["originalTransactionId"]?.stringValue
      else { return }
      let orderKey = NotificationSniffer.orderKey(environment: environment, originalTransactionId: original)
      // What is on the feed needs no second proof.
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

  /// More pages than any customer has; each has twenty transactions.
  static let mostPages = 2000

  let calls: AppStoreCalls
  let app: DeploymentConfiguration.App
  /// Nil asks production, then the sandbox.
  let server: AppStoreServer?
  /// Any transaction id of the customer.
  let transactionId: String

  /// Every transaction, the newest form of each: one that is modified while it is paged comes again.
  func all(
    _ query: TransactionHistoryQuery = TransactionHistoryQuery(), deadline: ContinuousClock.Instant
  ) async throws(AppStoreCallFailure) -> (server: AppStoreServer, transactions: [Transaction]) {
    var query = query
    var server = server
    var order: [String] = []
    var newest: [String: Transaction] = [:]
    for _ in 0..<Self.mostPages {
      let items: [(String, String)]
      do throws(RequestRefusal) { items = try query.items() } catch {
        throw .apple(AppStoreServerAPIError(.permanent, message: "\(error)", server: server ?? .production))
      }
      let answer = try await calls.ask(
        .getTransactionHistory, app: app, server: server, path: [transactionId], query: items, deadline: deadline)
      server = answer.server
      let texts = (answer.response["signedTransactions"]?.arrayValue ?? []).compactMap(\.stringValue)
      for (jws, payload) in zip(texts, answer.decoded) {
        guard let id = payload["transactionId"]?.stringValue else { continue }
        let last = newest[id]?.payload["signedDate"]?.int64Value ?? .min
        if newest[id] == nil { order.append(id) }
        guard (payload["signedDate"]?.int64Value ?? 0) >= last else { continue }
        newest[id] = Transaction(jws: jws, payload: payload, environment: answer.server.rawValue)
      }
      guard answer.response["hasMore"]?.boolValue == true, let revision = answer.response["revision"]?.stringValue,
        revision != query.revision
      else { return (answer.server, order.compactMap { newest[$0] }) }
      query.revision = revision
    }
    throw .apple(
      AppStoreServerAPIError(.permanent, message: "the history has more than \(Self.mostPages) pages", server: server ?? .production))
  }
}
