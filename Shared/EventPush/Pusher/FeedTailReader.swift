import AttributionQueue
import Logging
import Synchronization

/// Reads the tails of all shards, once for all endpoints of an instance.
final class FeedTailReader: Sendable {
  /// The new events of one shard.
  struct Finding: Sendable {
    let shard: Shard
    /// The end of the previous poll.
    let before: FeedPosition
    let last: FeedPosition
    let events: [PushedEvent]
  }

  private struct State {
    var tails: [FeedPosition?] = Array(repeating: nil, count: Shard.count)
    /// All events published before this time are known; milliseconds since 1970.
    var time: Int64 = .min
  }

  private static let maxEvents = 200
  private let feed: EventFeed
  private let logger: Logger
  private let state = Mutex(State())

  init(feed: EventFeed, logger: Logger) {
    self.feed = feed
    self.logger = logger
  }

  /// The end of the last poll in a shard; nil before the first poll.
  func tail(_ shard: Int) -> FeedPosition? { state.withLock { $0.tails[shard] } }

  /// All events published before this time have been read.
  var time: Int64 { state.withLock { $0.time } }

  /// Polls all shards once. Returns the new events, and whether there may be more.
  func poll() async throws(EventFeedError) -> (findings: [Finding], mayHaveMore: Bool) {
    let known = state.withLock { $0.tails }
    let polled = try await feed.tails(Shard.all.map { ($0, known[$0.index]) }, limit: Self.maxEvents)
    var findings: [Finding] = []
    var mayHaveMore = false
    var time = Int64.max
    var tails = known
    for (shard, tail) in polled {
      guard let before = known[shard.index] else {
        tails[shard.index] = tail.last
        time = min(time, tail.time)
        continue
      }
      let isWhole = tail.events.count < Self.maxEvents
      if !isWhole { mayHaveMore = true }
      // If not all were read, more events may have the publication time of the last one.
      time = min(time, isWhole ? tail.time : tail.events.last?.place.milliseconds ?? tail.time)
      guard let last = tail.events.last?.place, last > before else { continue }
      tails[shard.index] = last
      findings.append(
        Finding(shard: shard, before: before, last: last, events: tail.events.map { PushedEvent($0, shard) }))
    }
    let (newTails, newTime) = (tails, time)
    state.withLock { state in
      state.tails = newTails
      state.time = newTime
    }
    return (findings, mayHaveMore)
  }
}
