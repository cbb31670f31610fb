import AttributionQueue
import Logging
import Synchronization

/// Reads the tails of all shards, once for all endpoints of an instance.
final class FeedTailReader: Sendable {
  /// What one look found in a shard.
  struct Finding: Sendable {
    let shard: Shard
    /// Where the look before ended.
    let before: FeedPosition
    let last: FeedPosition
    let events: [PushedEvent]
  }

  private struct State {
    var tails: [FeedPosition?] = Array(repeating: nil, count: Shard.count)
    /// All events that were published before this time are known; milliseconds since 1970.
    var time: Int64 = .min
  }

  private static let most = 200
  private let feed: EventFeed
  private let logger: Logger
  private let state = Mutex(State())

  init(feed: EventFeed, logger: Logger) {
    self.feed = feed
    self.logger = logger
  }

  /// Where the last look ended in a shard; nil before the first.
  func tail(_ shard: Int) -> FeedPosition? { state.withLock { $0.tails[shard] } }

  /// All events that were published before this time were found by a look.
  var time: Int64 { state.withLock { $0.time } }

  /// Looks once; answers what is new, and whether there may be more.
  func look() async throws(EventFeedError) -> (findings: [Finding], mayHaveMore: Bool) {
    let known = state.withLock { $0.tails }
    let answers = try await feed.tails(Shard.all.map { ($0, known[$0.index]) }, most: Self.most)
    var findings: [Finding] = []
    var mayHaveMore = false
    var time = Int64.max
    var tails = known
    for (shard, tail) in answers {
      guard let before = known[shard.index] else {
        tails[shard.index] = tail.last
        time = min(time, tail.time)
        continue
      }
      let isWhole = tail.events.count < Self.most
      if !isWhole { mayHaveMore = true }
      // Behind what was found there may be more, published at the same moment.
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
