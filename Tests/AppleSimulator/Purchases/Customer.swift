import WireJSON

/// An App Store account in one app: its subscriptions, its other purchases, and the consumption information sent about it.
struct Customer: Sendable {
  var bundleID: String
  var environment: AppStoreEnvironment
  /// An identifier that stays the same for this account and app.
  var appTransactionID: String
  var subscriptions: [SimulatedSubscription] = []
  var products: [TransactionFacts] = []
  var hasAppTransaction = true
  /// Bodies of *Send Consumption Information*, in the order of their arrival.
  var consumption: [JSONObject] = []
  var finished: Set<String> = []
  var firstSeen: Int64

  var transactions: [TransactionFacts] { subscriptions.flatMap(\.transactions) + products }

  var identifiers: Set<String> {
    var all: Set<String> = [appTransactionID]
    for transaction in transactions { all.insert(transaction.id) }
    return all
  }
}
