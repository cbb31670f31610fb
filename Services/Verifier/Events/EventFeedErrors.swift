import AttributionProtocol
import AttributionQueue

extension EventFeedError {
  /// The error for the caller of an RPC.
  ///
  /// - Parameters:
  ///   - subscription: the request's field that names the subscription.
  ///   - event: the request's field that names an event.
  func rpcError(subscription: String, event: String) -> RPCError {
    switch self {
    case .unknownSubscription: .notFound("no subscription has this name", field: subscription)
    case .unknownEvent: .notFound("no stored event has this id", field: event)
    case .differs:
      RPCError(
        .alreadyExists, "a subscription with this name exists, but its types, filter, start, order or endpoint are different",
        reason: "SUBSCRIPTION_DIFFERS")
    case .isPushed: .failedPrecondition("the subscription's events are pushed to an endpoint", reason: "SUBSCRIPTION_IS_PUSHED")
    case .isPulled: .failedPrecondition("the subscription's events are pulled, so it has no endpoint", reason: "SUBSCRIPTION_IS_PULLED")
    case .contended:
      RPCError(.aborted, "another call is changing the subscription", reason: "SUBSCRIPTION_CONTENDED", retryDelay: .milliseconds(100))
    case .unavailable: .unavailable("the event store is unavailable", reason: "STORE_UNAVAILABLE")
    }
  }

  /// Runs a call to the feed, and converts its error for the caller of an RPC. The parameters are those of
  /// ``rpcError(subscription:event:)``.
  static func convertingErrors<Value>(
    subscription: String = "subscription", event: String = "", _ body: () async throws(EventFeedError) -> Value
  ) async throws(RPCError) -> Value {
    do throws(EventFeedError) { return try await body() } catch { throw error.rpcError(subscription: subscription, event: event) }
  }
}
