// Made by Generator/generate.py from the contract; change the .proto file instead.

public import AttributionProtocol

/// The feed of events. The events of a subscription are pulled, or pushed to an endpoint. An event is delivered again until it is acknowledged, or
/// until its endpoint has answered 2xx.
public struct EventsServiceClient: Sendable {
  /// The client that makes the calls.
  public let rpc: RPCClient

  public init(_ rpc: RPCClient) { self.rpc = rpc }

  /// Creates a subscription. A repeated request gets the same answer.
  public func createSubscription(_ request: CreateSubscriptionRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> CreateSubscriptionResponse
  {
    try await rpc.call(EventsService.CreateSubscription.self, request, options)
  }

  /// Leases events. Can wait for the first one.
  public func pullEvents(_ request: PullEventsRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> PullEventsResponse {
    try await rpc.call(EventsService.PullEvents.self, request, options)
  }

  /// Acknowledges events, so that they are not delivered again.
  public func acknowledgeEvents(_ request: AcknowledgeEventsRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> AcknowledgeEventsResponse
  {
    try await rpc.call(EventsService.AcknowledgeEvents.self, request, options)
  }

  /// One event by its id.
  public func getEvent(_ request: GetEventRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> GetEventResponse {
    try await rpc.call(EventsService.GetEvent.self, request, options)
  }

  /// Events of a time range in the order of their publication, without a subscription, page by page. For exports.
  public func listEvents(_ request: ListEventsRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> ListEventsResponse {
    try await rpc.call(EventsService.ListEvents.self, request, options)
  }

  /// The history of one delivery: from its receipt to its event, and which subscriptions have processed the event.
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

  /// Extends or ends the leases of pulled events.
  public func modifyLease(_ request: ModifyLeaseRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> ModifyLeaseResponse
  {
    try await rpc.call(EventsService.ModifyLease.self, request, options)
  }

  /// Moves a subscription back or forward to a time or to an event. Stored events from there on are delivered again.
  public func seekSubscription(_ request: SeekSubscriptionRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> SeekSubscriptionResponse
  {
    try await rpc.call(EventsService.SeekSubscription.self, request, options)
  }

  /// Changes the settings of a push endpoint. Absent fields stay unchanged.
  public func updateEndpoint(_ request: UpdateEndpointRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> UpdateEndpointResponse
  {
    try await rpc.call(EventsService.UpdateEndpoint.self, request, options)
  }

  /// Enables a disabled endpoint. Can also replay events from a given time.
  public func enableEndpoint(_ request: EnableEndpointRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> EnableEndpointResponse
  {
    try await rpc.call(EventsService.EnableEndpoint.self, request, options)
  }

  /// Creates a new secret, which signs in addition to the previous one until that is removed. Only this answer contains the secret.
  public func rotateEndpointSecret(_ request: RotateEndpointSecretRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> RotateEndpointSecretResponse
  {
    try await rpc.call(EventsService.RotateEndpointSecret.self, request, options)
  }

  /// Deletes a subscription.
  public func deleteSubscription(_ request: DeleteSubscriptionRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> DeleteSubscriptionResponse
  {
    try await rpc.call(EventsService.DeleteSubscription.self, request, options)
  }
}
