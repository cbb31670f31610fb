// Made by Generator/generate.py from the contract; change the .proto file instead.

/// Inspects and administers the queues. Served by every service that works a queue.
public enum QueuesService {
  /// The full RPC name.
  public static let name = "attribution.queues.v1.QueuesService"

  /// Every method, in the order of the contract.
  public static let methods: [any RPCMethod.Type] = [
    ListQueues.self,
    GetQueueHistory.self,
    ListDeadLetters.self,
    GetDeadLetter.self,
    ReplayDeadLetters.self,
    PurgeDeadLetters.self,
    PauseQueue.self,
    ResumeQueue.self,
    GetStoreForm.self,
    SetStoreForm.self,
  ]

  /// For each queue: depth, messages in flight, delayed messages, dead letters, and the age of the oldest message.
  public enum ListQueues: RPCMethod {
    public typealias Request = ListQueuesRequest
    public typealias Response = ListQueuesResponse
    public static let service = QueuesService.name
    public static let name = "ListQueues"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// The state of the queues for each minute. For plots.
  public enum GetQueueHistory: RPCMethod {
    public typealias Request = GetQueueHistoryRequest
    public typealias Response = GetQueueHistoryResponse
    public static let service = QueuesService.name
    public static let name = "GetQueueHistory"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Dead letters with their history.
  public enum ListDeadLetters: RPCMethod {
    public typealias Request = ListDeadLettersRequest
    public typealias Response = ListDeadLettersResponse
    public static let service = QueuesService.name
    public static let name = "ListDeadLetters"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// One dead letter with its body.
  public enum GetDeadLetter: RPCMethod {
    public typealias Request = GetDeadLetterRequest
    public typealias Response = GetDeadLetterResponse
    public static let service = QueuesService.name
    public static let name = "GetDeadLetter"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Puts dead letters back into their queue; they keep their ids and idempotency keys.
  public enum ReplayDeadLetters: RPCMethod {
    public typealias Request = ReplayDeadLettersRequest
    public typealias Response = ReplayDeadLettersResponse
    public static let service = QueuesService.name
    public static let name = "ReplayDeadLetters"
    public static let idempotency = IdempotencyClass.keyed
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Deletes dead letters permanently.
  public enum PurgeDeadLetters: RPCMethod {
    public typealias Request = PurgeDeadLettersRequest
    public typealias Response = PurgeDeadLettersResponse
    public static let service = QueuesService.name
    public static let name = "PurgeDeadLetters"
    public static let idempotency = IdempotencyClass.keyed
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Pauses a queue: workers process no messages, and new messages are stored.
  public enum PauseQueue: RPCMethod {
    public typealias Request = PauseQueueRequest
    public typealias Response = PauseQueueResponse
    public static let service = QueuesService.name
    public static let name = "PauseQueue"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Resumes a paused queue.
  public enum ResumeQueue: RPCMethod {
    public typealias Request = ResumeQueueRequest
    public typealias Response = ResumeQueueResponse
    public static let service = QueuesService.name
    public static let name = "ResumeQueue"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// The form of the data in Redis, and the workers that do not know the newest form.
  public enum GetStoreForm: RPCMethod {
    public typealias Request = GetStoreFormRequest
    public typealias Response = GetStoreFormResponse
    public static let service = QueuesService.name
    public static let name = "GetStoreForm"
    public static let idempotency = IdempotencyClass.read(getAllowed: true)
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }

  /// Switches all instances to another form, within seconds. Refused (failed_precondition) while there is a worker that does not know that form.
  public enum SetStoreForm: RPCMethod {
    public typealias Request = SetStoreFormRequest
    public typealias Response = SetStoreFormResponse
    public static let service = QueuesService.name
    public static let name = "SetStoreForm"
    public static let idempotency = IdempotencyClass.natural
    public static let timeLimit = RPCTimeLimit(default: .milliseconds(10000), maximum: .milliseconds(60000))
    public static let isBatch = false
  }
}
