// Made by Generator/generate.py from the contract; change the .proto file instead.

public import AttributionProtocol

/// Inspects and administers the queues. Served by every service that works a queue.
public struct QueuesServiceClient: Sendable {
  /// The client that makes the calls.
  public let rpc: RPCClient

  public init(_ rpc: RPCClient) { self.rpc = rpc }

  /// For each queue: depth, messages in flight, delayed messages, dead letters, and the age of the oldest message.
  public func listQueues(_ request: ListQueuesRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> ListQueuesResponse {
    try await rpc.call(QueuesService.ListQueues.self, request, options)
  }

  /// The state of the queues for each minute. For plots.
  public func getQueueHistory(_ request: GetQueueHistoryRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> GetQueueHistoryResponse
  {
    try await rpc.call(QueuesService.GetQueueHistory.self, request, options)
  }

  /// Dead letters with their history.
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

  /// Puts dead letters back into their queue; they keep their ids and idempotency keys.
  public func replayDeadLetters(_ request: ReplayDeadLettersRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> ReplayDeadLettersResponse
  {
    try await rpc.call(QueuesService.ReplayDeadLetters.self, request, options)
  }

  /// Deletes dead letters permanently.
  public func purgeDeadLetters(_ request: PurgeDeadLettersRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> PurgeDeadLettersResponse
  {
    try await rpc.call(QueuesService.PurgeDeadLetters.self, request, options)
  }

  /// Pauses a queue: workers process no messages, and new messages are stored.
  public func pauseQueue(_ request: PauseQueueRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> PauseQueueResponse {
    try await rpc.call(QueuesService.PauseQueue.self, request, options)
  }

  /// Resumes a paused queue.
  public func resumeQueue(_ request: ResumeQueueRequest, options: CallOptions = CallOptions()) async throws(RPCError) -> ResumeQueueResponse
  {
    try await rpc.call(QueuesService.ResumeQueue.self, request, options)
  }

  /// The form of the data in Redis, and the workers that do not know the newest form.
  public func getStoreForm(_ request: GetStoreFormRequest = GetStoreFormRequest(), options: CallOptions = CallOptions())
    async throws(RPCError) -> GetStoreFormResponse
  {
    try await rpc.call(QueuesService.GetStoreForm.self, request, options)
  }

  /// Switches all instances to another form, within seconds. Refused (failed_precondition) while there is a worker that does not know that form.
  public func setStoreForm(_ request: SetStoreFormRequest, options: CallOptions = CallOptions()) async throws(RPCError)
    -> SetStoreFormResponse
  {
    try await rpc.call(QueuesService.SetStoreForm.self, request, options)
  }
}
