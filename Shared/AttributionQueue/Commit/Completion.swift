/// An event to publish.
public struct EventRecord: Sendable, Hashable {
  public var id: String
  public var type: String
  /// A CloudEvent in its JSON format.
  public var json: [UInt8]
  /// The attributes that subscription filters match.
  public var attributes: EventAttributes

  public init(id: String, type: String, json: [UInt8], attributes: EventAttributes = EventAttributes()) {
    self.id = id
    self.type = type
    self.json = json
    self.attributes = attributes
  }
}

/// A value that a service stores about a message, in the message's shard under the key ``Keys/own(_:_:_:)``. It outlives the message.
public struct OwnRecord: Sendable {
  public var service: String
  public var name: String
  /// Not empty.
  public var value: [UInt8]
  /// How long the value is stored; at least a second.
  public var ttl: Duration

  public init(service: String, name: String, value: [UInt8], ttl: Duration) {
    self.service = service
    self.name = name
    self.value = value
    self.ttl = ttl
  }
}

/// The stored body of a rejected delivery.
public struct KeptBody: Sendable, Hashable {
  /// The environment in which Apple signed the delivery; empty if the signature is not Apple's. Anybody can make such deliveries, so those of
  /// each environment are classes of their own, of which the largest loses its oldest bodies first (rejected.lua).
  public var environment: String

  public init(environment: String = "") { self.environment = environment }
}

/// The outcome of a message that a handler has finished: ``WorkOutcome/complete(_:)``.
///
///     var completion = Completion(state: .verified, naturalKey: key, events: [event])
///     completion.keepsOriginal = true
///     return .complete(completion)
public struct Completion: Sendable {
  public var state: DeliveryState
  /// The natural key that is claimed in the step that publishes the events. If it was claimed before, no event is published.
  public var naturalKey: String?
  /// True if the natural key is stored for ``QueueConfiguration/notificationGeneration``, because recovery can fetch the message again for
  /// half a year; otherwise for ``QueueConfiguration/deliveryGeneration``.
  public var rememberLong: Bool
  /// Bytes whose digest is stored with the natural key and for the same time, if this message claims the key
  /// (``QueueConfiguration/unsignedDigests``). Must not be combined with ``rememberLong``.
  public var detail: [UInt8]?
  public var events: [EventRecord]
  /// Why the delivery was rejected, or how it was done; stored in its record.
  public var reason: String?
  /// The event that the delivery's record names; by default the first of `events`.
  public var recordedEventId: String?
  /// The value of the `outcome` label in metrics; by default the state's name.
  public var outcomeLabel: String?
  /// Called if the natural key was claimed before; the closure then decides the outcome, and the worker keeps the message until it returns.
  /// If this is nil, the message is finished as a duplicate.
  public var whenClaimedBefore: (@Sendable () async -> WorkOutcome)?
  /// True if the same bytes may be accepted again, because they were rejected for a temporary reason on this system's side. Their
  /// idempotency key is then removed from the deduplication store.
  public var mayBeAcceptedAgain = false
  /// Not nil if the delivery is rejected and its message is stored, so that it can be judged again (``DeliveryQueue/reverify(_:)``).
  public var keptBody: KeptBody?
  /// True if the bytes that the sender sent may be stored with the first event, while a subscription requests them: ``OriginalBody``.
  public var keepsOriginal = false
  /// A value of the service that is stored in the step that publishes the events.
  public var ownRecord: OwnRecord?
  /// Reported values; they are counted unless the message is a duplicate.
  public var countedValues: [CountedValue] = []
  /// The text of a dead letter that is written for operators in addition. It has no body and cannot be replayed.
  public var deadLetter: String?

  public init(
    state: DeliveryState, naturalKey: String? = nil, rememberLong: Bool = false, events: [EventRecord],
    reason: String? = nil, recordedEventId: String? = nil
  ) {
    self.recordedEventId = recordedEventId
    self.state = state
    self.naturalKey = naturalKey
    self.rememberLong = rememberLong
    self.events = events
    self.reason = reason
  }
}
