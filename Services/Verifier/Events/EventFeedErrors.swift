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
    case .unknownEvent: .notFound("no stored event has this id", field: event)
    case .differs:
      RPCError(
        .alreadyExists, "a subscription of that name exists with other types, another filter, start or order",
        reason: "SUBSCRIPTION_DIFFERS")
    case .isPushed: .failedPrecondition("the subscription is pushed to an endpoint", reason: "SUBSCRIPTION_IS_PUSHED")
    case .isPulled: .failedPrecondition("the subscription is pulled and has no endpoint", reason: "SUBSCRIPTION_IS_PULLED")
    case .contended:
      RPCError(.aborted, "another call is changing the subscription", reason: "SUBSCRIPTION_CONTENDED", retryDelay: .milliseconds(100))
    case .unavailable: .unavailable("the event store is unavailable", reason: "STORE_UNAVAILABLE")
    }
  }

  /// Runs a query of the feed and converts its error to that of an RPC.
  static func asking<Value>(
    subscription: String = "subscription", event: String = "", _ question: () async throws(EventFeedError) -> Value
  ) async throws(RPCError) -> Value {
    do throws(EventFeedError) { return try await question() } catch { throw error.rpcError(subscription: subscription, event: event) }
  }
}
