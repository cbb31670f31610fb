// Made by Generator/generate.py from the contract; change the .proto file instead.

public import AttributionProtocol

/// Looks into the queues and mends them. Served by every service that works a queue.
public struct QueuesServiceClient: Sendable {
  /// What carries the calls.
  public let rpc: RPCClient

  public init(_ rpc: RPCClient) { self.rpc = rpc }

  /// Depth, in flight, delayed, dead and oldest age of each queue.
  public func listQueues(_ request: ListQueuesRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> ListQueuesResponse {
    try await rpc.call(QueuesService.ListQueues.self, request, options)
  }

  /// What the queues looked like minute by minute: for plots.
  public func getQueueHistory(_ request: GetQueueHistoryRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> GetQueueHistoryResponse
  {
    try await rpc.call(QueuesService.GetQueueHistory.self, request, options)
  }

  /// Messages that were given up, whole, with their history.
  public func listDeadLetters(_ request: ListDeadLettersRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> ListDeadLettersResponse
  {
    try await rpc.call(QueuesService.ListDeadLetters.self, request, options)
  }

  /// One dead letter with its body.
  public func getDeadLetter(_ request: GetDeadLetterRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> GetDeadLetterResponse
  {
    try await rpc.call(QueuesService.GetDeadLetter.self, request, options)
  }

  /// Puts dead letters back; they keep their ids and idempotency keys.
  public func replayDeadLetters(_ request: ReplayDeadLettersRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> ReplayDeadLettersResponse
  {
    try await rpc.call(QueuesService.ReplayDeadLetters.self, request, options)
  }

  /// Deletes dead letters for good.
  public func purgeDeadLetters(_ request: PurgeDeadLettersRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> PurgeDeadLettersResponse
  {
    try await rpc.call(QueuesService.PurgeDeadLetters.self, request, options)
  }

  /// Workers stop leasing; what comes in is kept.
  public func pauseQueue(_ request: PauseQueueRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> PauseQueueResponse {
    try await rpc.call(QueuesService.PauseQueue.self, request, options)
  }

  /// Workers lease again.
  public func resumeQueue(_ request: ResumeQueueRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> ResumeQueueResponse
  {
    try await rpc.call(QueuesService.ResumeQueue.self, request, options)
  }

  /// The form of what lies in Redis, and which workers do not know the newest one.
  public func getStoreForm(_ request: GetStoreFormRequest = GetStoreFormRequest(), options: CallOptions = CallOptions())
    async throws(RPCError) -> GetStoreFormResponse
  {
    try await rpc.call(QueuesService.GetStoreForm.self, request, options)
  }

  /// Has all instances work in another form, within seconds. Refused (failed_precondition) while a worker that does not know it can be seen.
  public func setStoreForm(_ request: SetStoreFormRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> SetStoreFormResponse
  {
    try await rpc.call(QueuesService.SetStoreForm.self, request, options)
  }
}
