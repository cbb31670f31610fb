@testable import AttributionQueue
@testable import EventPush

/// Positions and events for tests without Redis.
enum Sample {
  static func position(_ milliseconds: UInt64, _ number: UInt64 = 0, shard: Int = 0) -> EventPosition {
    EventPosition(feedPosition: FeedPosition(entry: EntryID(milliseconds: milliseconds, number: number)), shard: Shard(shard))
  }

  static func event(
    _ milliseconds: UInt64, shard: Int = 0, subject: String = "s", id: String? = nil, original: PushedEvent.Original? = nil
  ) -> PushedEvent {
    let id = id ?? "e\(milliseconds)-\(shard)"
    let json = #"{"specversion":"1.0","id":"\#(id)","source":"/v","type":"t","subject":"\#(subject)","data":{"a": [1, 2]}}"#
    return PushedEvent(position: position(milliseconds, shard: shard), id: id, type: "t", json: Array(json.utf8), original: original)
  }

  static func state(_ adjust: (inout EndpointRules) -> Void = { _ in }) -> EndpointState {
    var rules = EndpointRules()
    adjust(&rules)
    return EndpointState(rules: rules, now: 0)
  }
}

extension EndpointState {
  /// All events that may be posted now. Events that have to be fetched are found in `all`.
  mutating func posts(now: Int64, of all: [PushedEvent] = []) -> [PushedEvent] {
    var posts: [PushedEvent] = []
    while true {
      switch next(now: now) {
      case .post(let event): posts.append(event)
      case .load(let positions) where !all.isEmpty:
        _ = loaded(positions.map { position in (position, all.first { $0.position == position }) })
      default: return posts
      }
    }
  }

  mutating func refuse(_ event: PushedEvent, now: Int64, retryAfter: Int64? = nil, isBusy: Bool = false) -> Refusal {
    failed(event.position, error: "status 500", retryAfter: retryAfter, isBusy: isBusy, now: now, random: 1)
  }
}
