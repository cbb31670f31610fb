/// An event that is to be published.
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

/// A value that a service stores about a message under `Keys.own` in the message's shard. It outlives the message.
public struct OwnRecord: Sendable {
  public var service: String
  public var name: String
  /// Not empty.
  public var value: [UInt8]
  /// How long the value is stored; at least a second.
  public var life: Duration

  public init(service: String, name: String, value: [UInt8], life: Duration) {
    self.service = service
    self.name = name
    self.value = value
    self.life = life
  }
}

/// The outcome of a message.
public struct Completion: Sendable {
  public var state: DeliveryState
  /// Claimed in the same step that publishes the events. If the key was claimed before, no event is published.
  public var naturalKey: String?
  /// True if the natural key is stored for ``QueueConfiguration/notificationGeneration``, because recovery can fetch the message again for
  /// half a year; otherwise for ``QueueConfiguration/deliveryGeneration``.
  public var rememberLong: Bool
  /// Bytes whose digest is stored with the natural key and for the same time, if this message claims the key
  /// (``QueueConfiguration/unsignedDigests``). Must not be combined with ``rememberLong``.
  public var detail: [UInt8]?
  public var events: [EventRecord]
  public var reason: String?
  /// The event that the delivery's record names; by default the first of `events`.
  public var recordedEventId: String?
  /// The value of the `outcome` label in metrics; by default the state's name.
  public var word: String?
  /// Called if the natural key was claimed before, and decides the outcome; the worker keeps holding the message while it runs. If it is nil,
  /// the message is then a duplicate.
  public var whenSeen: (@Sendable () async -> WorkOutcome)?
  /// True if the same bytes may be accepted again, because they were rejected for a temporary reason on this system's side.
  public var mayBeAcceptedAgain = false
  /// True if the body is stored for examination, within the configured limits.
  public var keepsBody = false
  /// True if the bytes that the sender sent may be stored with the first event, while a subscription asks for them: ``OriginalBody``.
  public var keepsOriginal = false
  /// Written in the same step as the events.
  public var ownRecord: OwnRecord?
  /// Reported values; they are counted unless the message is a duplicate.
  public var countedValues: [CountedValue] = []
  /// The text of a dead letter that is written for operators. It is final: it has no body and cannot be replayed.
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
