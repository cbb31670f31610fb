import AttributionProtocol
import AttributionQueue

extension EventFeedError {
  /// The same error as an RPC's answer.
  var rpcError: RPCError {
    switch self {
    case .unknownSubscription: .notFound("no subscription of that name", field: "subscription")
    case .differs:
      RPCError(
        .alreadyExists, "a subscription of that name exists with other types or another start",
        reason: "SUBSCRIPTION_DIFFERS")
    case .unavailable: .unavailable("the event store is away", reason: "STORE_UNAVAILABLE")
    }
  }

  static func asking<Value>(_ question: () async throws(EventFeedError) -> Value) async throws(RPCError) -> Value {
    do throws(EventFeedError) { return try await question() } catch { throw error.rpcError }
  }
}

/// What a subscription may be called.
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

  static func message(_ subscription: EventSubscription) -> Subscription {
    Subscription(
      name: subscription.name, types: subscription.types, start: subscription.start,
      createdAt: Timestamp(millisecondsSince1970: subscription.createdAt), backlog: subscription.backlog,
      oldestUnacknowledgedAgeSeconds: subscription.oldestAgeSeconds)
  }
}
