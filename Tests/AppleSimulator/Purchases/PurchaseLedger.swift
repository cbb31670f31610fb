import Synchronization
import WireJSON

/// All purchases, by app and environment.
public final class PurchaseLedger: Sendable {
  private struct State {
    var customers: [Customer] = []
    /// `environment/bundle/identifier` → customer.
    var places: [String: Int] = [:]
    /// `environment/order` → customer.
    var orders: [String: Int] = [:]
  }
  private let state = Mutex(State())

  func add(_ customer: Customer) {
    state.withLock { state in
      state.customers.append(customer)
      Self.index(state.customers.count - 1, &state)
    }
  }

  /// The customer of a transaction id.
  func customer(_ identifier: String, bundleID: String, environment: AppStoreEnvironment) -> Customer? {
    state.withLock { state in
      state.places[Self.key(identifier, bundleID, environment)].map { state.customers[$0] }
    }
  }

  func customer(order: String, bundleID: String, environment: AppStoreEnvironment) -> Customer? {
    state.withLock { state in state.orders[Self.key(order, bundleID, environment)].map { state.customers[$0] } }
  }

  /// Changes a customer under the lock. Returns nil if there is none.
  func change<Result: Sendable>(
    _ identifier: String, bundleID: String, environment: AppStoreEnvironment,
    _ body: (inout Customer) throws -> Result
  ) throws -> Result? {
    try state.withLock { state throws -> Result? in
      guard let place = state.places[Self.key(identifier, bundleID, environment)] else { return nil }
      let result = try body(&state.customers[place])
      Self.index(place, &state)
      return result
    }
  }

  /// The original transaction ids of all subscriptions of a product that currently renew.
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

  private static func index(_ place: Int, _ state: inout State) {
    let customer = state.customers[place]
    for identifier in customer.identifiers {
      state.places[key(identifier, customer.bundleID, customer.environment)] = place
    }
    for transaction in customer.transactions {
      state.orders[key(transaction.orderID, customer.bundleID, customer.environment)] = place
    }
  }
}
