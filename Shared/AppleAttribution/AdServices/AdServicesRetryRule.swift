/// Decides when Apple is called about a token, and when the exchange ends (AdServices: attributionToken()). ``start(createdAt:now:)`` gives
/// the time of the first call, ``next(after:history:createdAt:now:retryAfter:chance:)`` that of each further one.
///
/// After a 404, Apple asks for up to three retries at intervals of five seconds. The slow lane, retries at growing intervals until the
/// token expires, is our addition. Pure: times, in milliseconds since 1970, and random numbers are passed in.
public struct AdServicesRetryRule: Sendable, Hashable {
  /// The time from the token's creation to the first call, 0 to 60,000 ms. A call that is too soon is the most frequent cause of a 404.
  public var firstCallDelay: Int64
  /// The wait between calls after a 404, milliseconds.
  public var notFoundInterval: Int64
  /// The number of further calls after a first 404.
  public var notFoundRetries: Int
  /// The upper limits of the waits in the slow lane, milliseconds. The last one repeats until the token expires.
  public var slowLane: [Int64]
  /// True if a token that is still not found after ``notFoundRetries`` is retried in the slow lane.
  public var slowLaneAfterNotFound: Bool
  /// True if a token is retried in the slow lane after a failure of Apple's server. If false, it is retried as often and at the same
  /// intervals as after a 404, and then ends as ``AdServicesOutcome/expired``.
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

  /// The counts of a token's failed calls.
  public struct History: Sendable, Hashable {
    /// The number of 404s.
    public var notFound: Int
    /// The number of waits in the slow lane, or, without a slow lane, after failures of Apple's server.
    public var slow: Int

    public init(notFound: Int = 0, slow: Int = 0) {
      self.notFound = notFound
      self.slow = slow
    }
  }

  /// What to do next.
  public enum Action: Sendable, Hashable {
    /// Call Apple at this time.
    case call(at: Int64)
    /// End the exchange, with Apple's record if there is one.
    case finish(AdServicesOutcome, AttributionRecord?)
  }

  /// What to do first about a token that was created at `createdAt`.
  public func start(createdAt: Int64, now: Int64) -> Action {
    let due = max(now, createdAt + firstCallDelay)
    return due > createdAt + AttributionToken.lifetimeMilliseconds ? .finish(.expired, nil) : .call(at: due)
  }

  /// What to do after a call.
  ///
  /// - Parameters:
  ///   - history: the counts before this call. The call is added to them.
  ///   - retryAfter: `Retry-After` of the response in milliseconds. The wait is at least as long.
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

  /// The shortest wait between the last calls before a token expires, milliseconds.
  private static let minLastWait: Int64 = 5000

  /// The next call in the slow lane.
  private func slow(
    _ history: inout History, createdAt: Int64, now: Int64, retryAfter: Int64?, chance: Double
  ) -> Action {
    let maxWait = slowLane[min(history.slow, slowLane.count - 1)]
    history.slow += 1
    // A random wait up to the limit, but at least a second, because the server has just failed.
    let jittered = max(min(1000, maxWait), Int64(Double(maxWait) * min(max(chance, 0), 1)))
    // At most half of the token's remaining lifetime, so that the token does not expire during the wait.
    let remaining = createdAt + AttributionToken.lifetimeMilliseconds - now
    return later(by: max(min(jittered, max(remaining / 2, Self.minLastWait)), retryAfter ?? 0), createdAt: createdAt, now: now)
  }

  /// The next call after a wait; the end if the token expires before.
  private func later(by delay: Int64, createdAt: Int64, now: Int64) -> Action {
    let (due, overflow) = now.addingReportingOverflow(delay)
    guard !overflow, due <= createdAt + AttributionToken.lifetimeMilliseconds else { return .finish(.expired, nil) }
    return .call(at: due)
  }
}
