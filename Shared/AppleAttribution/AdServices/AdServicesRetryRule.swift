/// Decides when Apple is called about a token, and when no more (AdServices: attributionToken(), "retry up to three times at intervals of
/// five seconds" after a 404; the slow lane is our addition).
///
/// Pure: times, in milliseconds since 1970, and random numbers are passed in.
public struct AdServicesRetryRule: Sendable, Hashable {
  /// The time from the token's creation to the first call, 0 to 60,000 ms. Calling too soon is the most frequent cause of a 404.
  public var firstCallDelay: Int64
  /// The wait between calls after a 404.
  public var notFoundInterval: Int64
  /// The number of further calls after a first 404.
  public var notFoundRetries: Int
  /// Upper bounds of the waits after other failures; the last one repeats until the token expires.
  public var slowLane: [Int64]
  /// True if a token that is still not found after ``notFoundRetries`` is retried in the slow lane.
  public var slowLaneAfterNotFound: Bool
  /// True if a token is retried in the slow lane after a failure of Apple's server; otherwise as after a 404, as often; then the token
  /// ends as ``AdServicesOutcome/expired``.
  public var slowLaneAfterFailure: Bool

  public init(
    firstCallDelay: Int64 = 5000, notFoundInterval: Int64 = 5000, notFoundRetries: Int = 3,
    slowLane: [Int64] = [60_000, 300_000, 1_800_000, 7_200_000, 21_600_000], slowLaneAfterNotFound: Bool = false,
    slowLaneAfterFailure: Bool = true
  ) {
    self.firstCallDelay = min(max(firstCallDelay, 0), 60_000)
    self.notFoundInterval = notFoundInterval
    self.notFoundRetries = notFoundRetries
    self.slowLane = slowLane.isEmpty ? [60_000] : slowLane
    self.slowLaneAfterNotFound = slowLaneAfterNotFound
    self.slowLaneAfterFailure = slowLaneAfterFailure
  }

  /// The history of a token.
  public struct History: Sendable, Hashable {
    /// The number of 404s.
    public var notFound: Int
    /// The number of waits in the slow lane, or after failures without a slow lane.
    public var slow: Int

    public init(notFound: Int = 0, slow: Int = 0) {
      self.notFound = notFound
      self.slow = slow
    }
  }

  /// What to do next.
  public enum Action: Sendable, Hashable {
    /// Call at this time.
    case call(at: Int64)
    /// The end, with Apple's record if there is one.
    case finish(AdServicesOutcome, AttributionRecord?)
  }

  /// The first step for a token made at `createdAt`.
  public func start(createdAt: Int64, now: Int64) -> Action {
    let due = max(now, createdAt + firstCallDelay)
    return due > createdAt + AttributionToken.lifetimeMilliseconds ? .finish(.expired, nil) : .call(at: due)
  }

  /// The step after an answer.
  ///
  /// - Parameters:
  ///   - history: the token's history before this answer, which is counted here.
  ///   - retryAfter: the answer's `Retry-After` in milliseconds, which is the least wait.
  ///   - chance: a random number from 0 up to 1, for the jitter of the slow lane.
  public func next(
    after response: AdServicesResponse, history: inout History, createdAt: Int64, now: Int64, retryAfter: Int64? = nil,
    chance: Double
  ) -> Action {
    switch response {
    case .record(let record): return .finish(record.outcome, record)
    case .invalidToken: return .finish(.invalidToken, nil)
    case .notFound:
      history.notFound += 1
      if now >= createdAt + AttributionToken.lifetimeMilliseconds { return .finish(.expired, nil) }
      if history.notFound <= notFoundRetries {
        return later(by: max(notFoundInterval, retryAfter ?? 0), createdAt: createdAt, now: now)
      }
      guard slowLaneAfterNotFound else { return .finish(.notFound, nil) }
      return slow(&history, createdAt: createdAt, now: now, retryAfter: retryAfter, chance: chance)
    case .tryLater:
      guard slowLaneAfterFailure else {
        history.slow += 1
        if now >= createdAt + AttributionToken.lifetimeMilliseconds { return .finish(.expired, nil) }
        // Only a 404 means that Apple has no record.
        guard history.slow <= notFoundRetries else { return .finish(.expired, nil) }
        return later(by: max(notFoundInterval, retryAfter ?? 0), createdAt: createdAt, now: now)
      }
      return slow(&history, createdAt: createdAt, now: now, retryAfter: retryAfter, chance: chance)
    }
  }

  /// The least wait between the last calls before a token expires, milliseconds.
  private static let minLastWait: Int64 = 5000

  private func slow(
    _ history: inout History, createdAt: Int64, now: Int64, retryAfter: Int64?, chance: Double
  ) -> Action {
    let bound = slowLane[min(history.slow, slowLane.count - 1)]
    history.slow += 1
    // Full jitter, but at least a second, because the server has just failed.
    let jittered = max(min(1000, bound), Int64(Double(bound) * min(max(chance, 0), 1)))
    // At most half of the token's remaining life, so that it does not expire during a wait.
    let left = createdAt + AttributionToken.lifetimeMilliseconds - now
    return later(by: max(min(jittered, max(left / 2, Self.minLastWait)), retryAfter ?? 0), createdAt: createdAt, now: now)
  }

  private func later(by delay: Int64, createdAt: Int64, now: Int64) -> Action {
    let (due, overflow) = now.addingReportingOverflow(delay)
    guard !overflow, due <= createdAt + AttributionToken.lifetimeMilliseconds else { return .finish(.expired, nil) }
    return .call(at: due)
  }
}
