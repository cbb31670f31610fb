// Made by Generator/generate.py from the contract; change the .proto file instead.

/// The feed of events. A subscription is pulled, or pushed to an endpoint; each event is handed out until it is acknowledged, or its
/// endpoint has answered 2xx.
public enum EventsService {
  /// The full RPC name.
  public static let name = "attribution.events.v1.EventsService"

  /// Every method, in the order of the contract.
  public static let methods: [any RPCMethod.Type] = [
    CreateSubscription.self,
    PullEvents.self,
    AcknowledgeEvents.self,
    GetEvent.self,
    ListEvents.self,
    GetDeliveryStory.self,
    ListSubscriptions.self,
    GetSubscription.self,
    ModifyLease.self,
    SeekSubscription.self,
    UpdateEndpoint.self,
    EnableEndpoint.self,
    RotateEndpointSecret.self,
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

  /// Events of a time range, in the order in which they were published, without a subscription: page after page, for an export.
  public enum ListEvents: RPCMethod {
    public typealias Request = ListEventsRequest
    public typealias Response = ListEventsResponse
    public static let service = EventsService.name
    public static let name = "ListEvents"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(35000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// One delivery from its receipt to its event, and which subscriptions have dealt with that.
  public enum GetDeliveryStory: RPCMethod {
    public typealias Request = GetDeliveryStoryRequest
    public typealias Response = GetDeliveryStoryResponse
    public static let service = EventsService.name
    public static let name = "GetDeliveryStory"
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

  /// One subscription with its backlog.
  public enum GetSubscription: RPCMethod {
    public typealias Request = GetSubscriptionRequest
    public typealias Response = GetSubscriptionResponse
    public static let service = EventsService.name
    public static let name = "GetSubscription"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Extends the leases of pulled events, or gives the events back.
  public enum ModifyLease: RPCMethod {
    public typealias Request = ModifyLeaseRequest
    public typealias Response = ModifyLeaseResponse
    public static let service = EventsService.name
    public static let name = "ModifyLease"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Sets a subscription back, or forward, to a time or to an event: what is kept from there on is handed out again.
  public enum SeekSubscription: RPCMethod {
    public typealias Request = SeekSubscriptionRequest
    public typealias Response = SeekSubscriptionResponse
    public static let service = EventsService.name
    public static let name = "SeekSubscription"
    public static let idempotency = IdempotencyClass.keyed
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Changes what a push endpoint is asked with; fields that are left out stay.
  public enum UpdateEndpoint: RPCMethod {
    public typealias Request = UpdateEndpointRequest
    public typealias Response = UpdateEndpointResponse
    public static let service = EventsService.name
    public static let name = "UpdateEndpoint"
    public static let idempotency = IdempotencyClass.keyed
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Enables an endpoint that was disabled, and may replay from a time.
  public enum EnableEndpoint: RPCMethod {
    public typealias Request = EnableEndpointRequest
    public typealias Response = EnableEndpointResponse
    public static let service = EventsService.name
    public static let name = "EnableEndpoint"
    public static let idempotency = IdempotencyClass.keyed
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Makes a new secret, which signs beside the one before until that is removed. The secret is told in this answer alone.
  public enum RotateEndpointSecret: RPCMethod {
    public typealias Request = RotateEndpointSecretRequest
    public typealias Response = RotateEndpointSecretResponse
    public static let service = EventsService.name
    public static let name = "RotateEndpointSecret"
    public static let idempotency = IdempotencyClass.keyed
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
