import WireJSON

/// An App Store account in one app: its subscriptions, its other purchases, and the consumption information that was sent about it.
struct Customer: Sendable {
  var bundleID: String
  var environment: AppStoreEnvironment
  /// Apple's identifier of this account's download of the app (*appTransactionId*).
  var appTransactionID: String
  var subscriptions: [SimulatedSubscription] = []
  /// One-time purchases.
  var products: [TransactionFacts] = []
  var hasAppTransaction = true
  /// The bodies of *Send Consumption Information*, in the order of their arrival.
  var consumption: [JSONObject] = []
  /// The ids of finished transactions (*Finish Transaction*).
  var finished: Set<String> = []
  /// The time of the first purchase, in milliseconds since 1970.
  var firstSeen: Int64

  var transactions: [TransactionFacts] { subscriptions.flatMap(\.transactions) + products }

  /// The ids by which the customer can be found.
  var identifiers: Set<String> {
    var all: Set<String> = [appTransactionID]
    for transaction in transactions { all.insert(transaction.id) }
    return all
  }
}
