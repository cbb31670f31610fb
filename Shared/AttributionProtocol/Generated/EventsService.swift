// Made by Generator/generate.py from the contract; change the .proto file instead.

/// The feed of events: pull, then acknowledge. What is not acknowledged inside its lease is delivered again.
public enum EventsService {
  /// The full RPC name.
  public static let name = "attribution.events.v1.EventsService"

  /// Every method, in the order of the contract.
  public static let methods: [any RPCMethod.Type] = [
    CreateSubscription.self,
    PullEvents.self,
    AcknowledgeEvents.self,
    GetEvent.self,
    ListSubscriptions.self,
    DeleteSubscription.self,
  ]

  /// Makes a subscription; the same request again gives the same answer.
  public enum CreateSubscription: RPCMethod {
    public typealias Request = CreateSubscriptionRequest
    public typealias Response = CreateSubscriptionResponse
    public static let service = EventsService.name
    public static let name = "CreateSubscription"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Takes events under a lease, waiting for a first one if asked.
  public enum PullEvents: RPCMethod {
    public typealias Request = PullEventsRequest
    public typealias Response = PullEventsResponse
    public static let service = EventsService.name
    public static let name = "PullEvents"
    public static let idempotency = IdempotencyClass.read(getAllowed: false)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(35000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Says that events were dealt with.
  public enum AcknowledgeEvents: RPCMethod {
    public typealias Request = AcknowledgeEventsRequest
    public typealias Response = AcknowledgeEventsResponse
    public static let service = EventsService.name
    public static let name = "AcknowledgeEvents"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// One event by its id.
  public enum GetEvent: RPCMethod {
    public typealias Request = GetEventRequest
    public typealias Response = GetEventResponse
    public static let service = EventsService.name
    public static let name = "GetEvent"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// The subscriptions with their backlog.
  public enum ListSubscriptions: RPCMethod {
    public typealias Request = ListSubscriptionsRequest
    public typealias Response = ListSubscriptionsResponse
    public static let service = EventsService.name
    public static let name = "ListSubscriptions"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Ends a subscription.
  public enum DeleteSubscription: RPCMethod {
    public typealias Request = DeleteSubscriptionRequest
    public typealias Response = DeleteSubscriptionResponse
    public static let service = EventsService.name
    public static let name = "DeleteSubscription"
    public static let idempotency = IdempotencyClass.keyed
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }
}
