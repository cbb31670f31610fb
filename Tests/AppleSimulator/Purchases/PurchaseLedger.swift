import Synchronization
import WireJSON

/// All customers of all apps and environments, with their purchases.
public final class PurchaseLedger: Sendable {
  private struct State {
    var customers: [Customer] = []
    /// Indexes in `customers`, by `environment/bundle/identifier`.
    var indexes: [String: Int] = [:]
    /// Indexes in `customers`, by `environment/bundle/order id`.
    var orders: [String: Int] = [:]
  }
  private let state = Mutex(State())

  func add(_ customer: Customer) {
    state.withLock { state in
      state.customers.append(customer)
      Self.updateIndexes(ofCustomerAt: state.customers.count - 1, &state)
    }
  }

  /// The customer who has a transaction id or appTransactionId.
  func customer(_ identifier: String, bundleID: String, environment: AppStoreEnvironment) -> Customer? {
    state.withLock { state in
      state.indexes[Self.key(identifier, bundleID, environment)].map { state.customers[$0] }
    }
  }

  /// The customer who has a purchase of the order.
  func customer(order: String, bundleID: String, environment: AppStoreEnvironment) -> Customer? {
    state.withLock { state in state.orders[Self.key(order, bundleID, environment)].map { state.customers[$0] } }
  }

  /// Changes the customer who has the identifier. Returns nil if there is none.
  func change<Result: Sendable>(
    _ identifier: String, bundleID: String, environment: AppStoreEnvironment,
    _ body: (inout Customer) throws -> Result
  ) throws -> Result? {
    try state.withLock { state throws -> Result? in
      guard let index = state.indexes[Self.key(identifier, bundleID, environment)] else { return nil }
      let result = try body(&state.customers[index])
      Self.updateIndexes(ofCustomerAt: index, &state)
      return result
    }
  }

  /// The original transaction ids of all active subscriptions of a product.
  func activeSubscriptions(productID: String, bundleID: String, environment: AppStoreEnvironment) -> [String] {
    state.withLock { state in
      state.customers.lazy.filter { $0.bundleID == bundleID && $0.environment == environment }
        .flatMap(\.subscriptions).filter { $0.productID == productID && $0.status == 1 }.map(\.originalID)
    }
  }

  var count: Int { state.withLock(\.customers.count) }

  func reset() { state.withLock { $0 = State() } }

  private static func key(_ identifier: String, _ bundleID: String, _ environment: AppStoreEnvironment) -> String {
    "\(environment.rawValue)/\(bundleID)/\(identifier)"
  }

  private static func updateIndexes(ofCustomerAt index: Int, _ state: inout State) {
    let customer = state.customers[index]
    for identifier in customer.identifiers {
      state.indexes[key(identifier, customer.bundleID, customer.environment)] = index
    }
    for transaction in customer.transactions {
      state.orders[key(transaction.orderID, customer.bundleID, customer.environment)] = index
    }
  }
}
