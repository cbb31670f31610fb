/// An event to publish.
public struct EventRecord: Sendable, Hashable {
  public var id: String
  public var type: String
  /// A CloudEvent in its JSON format.
  public var json: [UInt8]
  /// What filters of subscriptions go by.
  public var attributes: EventAttributes

  public init(id: String, type: String, json: [UInt8], attributes: EventAttributes = EventAttributes()) {
    self.id = id
    self.type = type
    self.json = json
    self.attributes = attributes
  }
}

/// What a service keeps of its own about a message beyond its end, under `Keys.own` in the message's shard.
public struct OwnRecord: Sendable {
  public var service: String
  public var name: String
  /// Not empty.
  public var value: [UInt8]
  /// At least a second.
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
  /// Claimed together with publishing: seen before means no event.
  public var naturalKey: String?
  /// Whether the natural key must be remembered for as long as recovery reaches back (half a year) rather than for days.
  public var rememberLong: Bool
  /// What a digest is kept of beside the natural key, where it is this message that claims it, as long as that is remembered
  /// (``QueueConfiguration/unsignedDigests``). Not with ``rememberLong``.
  public var detail: [UInt8]?
  public var events: [EventRecord]
  public var reason: String?
  /// The event that the delivery's record names; the first of `events` where nothing is said.
  public var recordedEventId: String?
  /// The outcome's word in metrics; the state's where nothing is said.
  public var word: String?
  /// What to make of the message when its natural key was counted before; nil when nothing is left to be done. Meanwhile the
  /// message stays leased.
  public var whenSeen: (@Sendable () async -> WorkOutcome)?
  /// Whether the same bytes may be accepted again: they were rejected for a reason that lies in us and may pass.
  public var mayBeJudgedAnew = false
  /// Whether the body is kept for study, as far as there is room.
  public var keepsBody = false
  /// Whether the first event may keep what the sender sent, while a subscription asks for that: ``OriginalBody``.
  public var keepsOriginal = false
  /// Written in the same step as the events.
  public var ownRecord: OwnRecord?
  /// What it says, to be counted with it where it was not counted before.
  public var countedValues: [CountedValue] = []
  /// Leaves a dead letter that says this, for people to see. It is final: it has no body and cannot be replayed.
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
