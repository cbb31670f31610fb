import AttributionQueue
import Logging
import Synchronization

/// Reads the new events of all shards, once for all endpoints of an instance. ``Pusher`` calls ``poll()`` in a loop and offers the events
/// to each endpoint; an endpoint that has no room for them reads them later by itself.
final class FeedTailReader: Sendable {
  /// The new events of one shard.
  struct NewEvents: Sendable {
    let shard: Shard
    /// The position up to which the previous poll has read; these events follow it.
    let previousEnd: FeedPosition
    /// The position of the last of these events.
    let end: FeedPosition
    let events: [PushedEvent]
  }

  private struct State {
    /// The position up to which each shard was read, by shard; nil before the first poll.
    var ends: [FeedPosition?] = Array(repeating: nil, count: Shard.count)
    /// All events published before this time were read; milliseconds since 1970.
    var completeUntil: Int64 = .min
  }

  /// The greatest number of events that one poll reads from a shard.
  private static let maxEvents = 200
  private let feed: EventFeed
  private let logger: Logger
  private let state = Mutex(State())

  init(feed: EventFeed, logger: Logger) {
    self.feed = feed
    self.logger = logger
  }

  /// The position up to which the last poll has read a shard; nil before the first poll.
  func end(of shard: Int) -> FeedPosition? { state.withLock { $0.ends[shard] } }

  /// All events published before this time were read, in all shards; milliseconds since 1970.
  var completeUntil: Int64 { state.withLock { $0.completeUntil } }

  /// Polls all shards once. Returns the new events, and whether there may be more.
  ///
  /// The first poll only finds the ends of the shards: each endpoint reads by itself the events that were published before.
  func poll() async throws(EventFeedError) -> (newEvents: [NewEvents], mayHaveMore: Bool) {
    let previousEnds = state.withLock { $0.ends }
    let tails = try await feed.tails(Shard.all.map { ($0, previousEnds[$0.index]) }, limit: Self.maxEvents)
    var newEvents: [NewEvents] = []
    var mayHaveMore = false
    var completeUntil = Int64.max
    var ends = previousEnds
    for (shard, tail) in tails {
      guard let previousEnd = previousEnds[shard.index] else {
        ends[shard.index] = tail.last
        completeUntil = min(completeUntil, tail.time)
        continue
      }
      let isComplete = tail.events.count < Self.maxEvents
      if !isComplete { mayHaveMore = true }
      // If not all events were read, unread ones may have the same publication time as the last one that was read.
      completeUntil = min(completeUntil, isComplete ? tail.time : tail.events.last?.position.milliseconds ?? tail.time)
      guard let end = tail.events.last?.position, end > previousEnd else { continue }
      ends[shard.index] = end
      newEvents.append(
        NewEvents(shard: shard, previousEnd: previousEnd, end: end, events: tail.events.map { PushedEvent($0, shard) }))
    }
    let (newEnds, newTime) = (ends, completeUntil)
    state.withLock { state in
      state.ends = newEnds
      state.completeUntil = newTime
    }
    return (newEvents, mayHaveMore)
  }
}
