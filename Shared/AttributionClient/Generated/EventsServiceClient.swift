// Made by Generator/generate.py from the contract; change the .proto file instead.

public import AttributionProtocol

/// The feed of events. A subscription is pulled, or pushed to an endpoint; each event is handed out until it is acknowledged, or its
/// endpoint has answered 2xx.
public struct EventsServiceClient: Sendable {
  /// What carries the calls.
  public let rpc: RPCClient

  public init(_ rpc: RPCClient) { self.rpc = rpc }

  /// Makes a subscription; the same request again gives the same answer.
  public func createSubscription(_ request: CreateSubscriptionRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> CreateSubscriptionResponse
  {
    try await rpc.call(EventsService.CreateSubscription.self, request, options)
  }

  /// Takes events under a lease, waiting for a first one if asked.
  public func pullEvents(_ request: PullEventsRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> PullEventsResponse {
    try await rpc.call(EventsService.PullEvents.self, request, options)
  }

  /// Says that events were dealt with.
  public func acknowledgeEvents(_ request: AcknowledgeEventsRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> AcknowledgeEventsResponse
  {
    try await rpc.call(EventsService.AcknowledgeEvents.self, request, options)
  }

  /// One event by its id.
  public func getEvent(_ request: GetEventRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> GetEventResponse {
    try await rpc.call(EventsService.GetEvent.self, request, options)
  }

  /// Events of a time range, in the order in which they were published, without a subscription: page after page, for an export.
  public func listEvents(_ request: ListEventsRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> ListEventsResponse {
    try await rpc.call(EventsService.ListEvents.self, request, options)
  }

  /// One delivery from its receipt to its event, and which subscriptions have dealt with that.
  public func getDeliveryStory(_ request: GetDeliveryStoryRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> GetDeliveryStoryResponse
  {
    try await rpc.call(EventsService.GetDeliveryStory.self, request, options)
  }

  /// The subscriptions with their backlog.
  public func listSubscriptions(_ request: ListSubscriptionsRequest = ListSubscriptionsRequest(), options: CallOptions = CallOptions())
    async throws(RPCError) -> ListSubscriptionsResponse
  {
    try await rpc.call(EventsService.ListSubscriptions.self, request, options)
  }

  /// One subscription with its backlog.
  public func getSubscription(_ request: GetSubscriptionRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> GetSubscriptionResponse
  {
    try await rpc.call(EventsService.GetSubscription.self, request, options)
  }

  /// Extends the leases of pulled events, or gives the events back.
  public func modifyLease(_ request: ModifyLeaseRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> ModifyLeaseResponse
  {
    try await rpc.call(EventsService.ModifyLease.self, request, options)
  }

  /// Sets a subscription back, or forward, to a time or to an event: what is kept from there on is handed out again.
  public func seekSubscription(_ request: SeekSubscriptionRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> SeekSubscriptionResponse
  {
    try await rpc.call(EventsService.SeekSubscription.self, request, options)
  }

  /// Changes what a push endpoint is asked with; fields that are left out stay.
  public func updateEndpoint(_ request: UpdateEndpointRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> UpdateEndpointResponse
  {
    try await rpc.call(EventsService.UpdateEndpoint.self, request, options)
  }

  /// Enables an endpoint that was disabled, and may replay from a time.
  public func enableEndpoint(_ request: EnableEndpointRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> EnableEndpointResponse
  {
    try await rpc.call(EventsService.EnableEndpoint.self, request, options)
  }

  /// Makes a new secret, which signs beside the one before until that is removed. The secret is told in this answer alone.
  public func rotateEndpointSecret(_ request: RotateEndpointSecretRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> RotateEndpointSecretResponse
  {
    try await rpc.call(EventsService.RotateEndpointSecret.self, request, options)
  }

  /// Ends a subscription.
  public func deleteSubscription(_ request: DeleteSubscriptionRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> DeleteSubscriptionResponse
  {
    try await rpc.call(EventsService.DeleteSubscription.self, request, options)
  }
}
