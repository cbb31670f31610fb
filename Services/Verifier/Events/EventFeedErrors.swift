import AttributionProtocol
import AttributionQueue

extension EventFeedError {
  /// The error of an RPC.
  ///
  /// - Parameters:
  ///   - subscription: the request's field that names the subscription.
  ///   - event: the request's field that names an event.
  func rpcError(subscription: String, event: String) -> RPCError {
    switch self {
    case .unknownSubscription: .notFound("no subscription of that name", field: subscription)
    case .unknownEvent: .notFound("no event of that id is kept", field: event)
    case .differs:
      RPCError(
        .alreadyExists, "a subscription of that name exists with other types, another filter, start or order",
        reason: "SUBSCRIPTION_DIFFERS")
    case .isPushed: .failedPrecondition("the subscription is pushed to an endpoint", reason: "SUBSCRIPTION_IS_PUSHED")
    case .isPulled: .failedPrecondition("the subscription is pulled and has no endpoint", reason: "SUBSCRIPTION_IS_PULLED")
    case .contended:
      RPCError(.aborted, "others change the subscription", reason: "SUBSCRIPTION_CONTENDED", retryDelay: .milliseconds(100))
    case .unavailable: .unavailable("the event store is unavailable", reason: "STORE_UNAVAILABLE")
    }
  }

  static func asking<Value>(
    subscription: String = "subscription", event: String = "", _ question: () async throws(EventFeedError) -> Value
  ) async throws(RPCError) -> Value {
    do throws(EventFeedError) { return try await question() } catch { throw error.rpcError(subscription: subscription, event: event) }
  }
}

/// The rule for names of subscriptions.
enum SubscriptionName {
  static func checked(_ name: String?, field: String) throws(RPCError) -> String {
    guard let name else { throw .invalidArgument(field: field, "is missing") }
    guard (1...64).contains(name.utf8.count), name.utf8.allSatisfy(isAllowed) else {
      throw .invalidArgument(field: field, "must be 1 to 64 of A-Z a-z 0-9 . _ -")
    }
    return name
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 97...122, UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"): true
    default: false
    }
  }
}
