// Made by Generator/generate.py from the contract; change the .proto file instead.

/// The feed of events. The events of a subscription are pulled, or pushed to an endpoint. An event is delivered again until it is acknowledged, or
/// until its endpoint has answered 2xx.
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

  /// Creates a subscription. A repeated request gets the same answer.
  public enum CreateSubscription: RPCMethod {
    public typealias Request = CreateSubscriptionRequest
    public typealias Response = CreateSubscriptionResponse
    public static let service = EventsService.name
    public static let name = "CreateSubscription"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Leases events. Can wait for the first one.
  public enum PullEvents: RPCMethod {
    public typealias Request = PullEventsRequest
    public typealias Response = PullEventsResponse
    public static let service = EventsService.name
    public static let name = "PullEvents"
    public static let idempotency = IdempotencyClass.read(getAllowed: false)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(35000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Acknowledges events, so that they are not delivered again.
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

  /// Events of a time range in the order of their publication, without a subscription, page by page. For exports.
  public enum ListEvents: RPCMethod {
    public typealias Request = ListEventsRequest
    public typealias Response = ListEventsResponse
    public static let service = EventsService.name
    public static let name = "ListEvents"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(35000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// The history of one delivery: from its receipt to its event, and which subscriptions have processed the event.
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

  /// Extends or ends the leases of pulled events.
  public enum ModifyLease: RPCMethod {
    public typealias Request = ModifyLeaseRequest
    public typealias Response = ModifyLeaseResponse
    public static let service = EventsService.name
    public static let name = "ModifyLease"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Moves a subscription back or forward to a time or to an event. Stored events from there on are delivered again.
  public enum SeekSubscription: RPCMethod {
    public typealias Request = SeekSubscriptionRequest
    public typealias Response = SeekSubscriptionResponse
    public static let service = EventsService.name
    public static let name = "SeekSubscription"
    public static let idempotency = IdempotencyClass.keyed
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Changes the settings of a push endpoint. Absent fields stay unchanged.
  public enum UpdateEndpoint: RPCMethod {
    public typealias Request = UpdateEndpointRequest
    public typealias Response = UpdateEndpointResponse
    public static let service = EventsService.name
    public static let name = "UpdateEndpoint"
    public static let idempotency = IdempotencyClass.keyed
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Enables a disabled endpoint. Can also replay events from a given time.
  public enum EnableEndpoint: RPCMethod {
    public typealias Request = EnableEndpointRequest
    public typealias Response = EnableEndpointResponse
    public static let service = EventsService.name
    public static let name = "EnableEndpoint"
    public static let idempotency = IdempotencyClass.keyed
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Creates a new secret, which signs in addition to the previous one until that is removed. Only this answer contains the secret.
  public enum RotateEndpointSecret: RPCMethod {
    public typealias Request = RotateEndpointSecretRequest
    public typealias Response = RotateEndpointSecretResponse
    public static let service = EventsService.name
    public static let name = "RotateEndpointSecret"
    public static let idempotency = IdempotencyClass.keyed
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Deletes a subscription.
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
