/// When Apple is asked about a token, and when no more (AdServices: attributionToken(), "retry up to three times at
/// intervals of five seconds" after a 404; the slow lane is ours).
///
/// Pure: times are milliseconds since 1970 and passed in, chance too.
public struct AdServicesRetryRule: Sendable, Hashable {
  /// From the token's creation to the first call: asking too soon is the commonest cause of a 404. 0 to 60,000 ms.
  public var firstCallDelay: Int64
  /// Between the calls after a 404.
  public var notFoundInterval: Int64
  /// How often a call is repeated after a 404 in this lane.
  public var notFoundRetries: Int
  /// Upper bounds of the waits after everything else; the last one repeats until the token expires.
  public var slowLane: [Int64]
  /// Whether a token goes on in the slow lane when it is still not found after ``notFoundRetries``.
  public var slowLaneAfterNotFound: Bool
  /// Whether a token goes on in the slow lane when Apple's server fails; otherwise it is asked again as after a 404, as often.
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

  /// What has happened to a token so far.
  public struct History: Sendable, Hashable {
    /// Answers of 404.
    public var notFound: Int
    /// Waits taken in the slow lane, or after failures where there is none.
    public var slow: Int

    public init(notFound: Int = 0, slow: Int = 0) {
      self.notFound = notFound
      self.slow = slow
    }
  }

  /// What to do next.
  public enum Action: Sendable, Hashable {
    /// Ask (again) at this time.
    case call(at: Int64)
    /// The end. The record is there where Apple sent one.
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
  ///   - history: of the token, this answer not yet counted; it is counted here.
  ///   - retryAfter: what the answer's `Retry-After` said, in milliseconds: never asked sooner.
  ///   - chance: from 0 up to 1, for the jitter of the slow lane.
  public func next(
    after answer: AdServicesAnswer, history: inout History, createdAt: Int64, now: Int64, retryAfter: Int64? = nil,
    chance: Double
  ) -> Action {
    switch answer {
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
        guard history.slow <= notFoundRetries else { return .finish(.notFound, nil) }
        return later(by: max(notFoundInterval, retryAfter ?? 0), createdAt: createdAt, now: now)
      }
      return slow(&history, createdAt: createdAt, now: now, retryAfter: retryAfter, chance: chance)
    }
  }

  /// Between the last calls before a token's end, milliseconds.
  private static let leastLastWait: Int64 = 5000

  private func slow(
    _ history: inout History, createdAt: Int64, now: Int64, retryAfter: Int64?, chance: Double
  ) -> Action {
    let bound = slowLane[min(history.slow, slowLane.count - 1)]
    history.slow += 1
    // Full jitter, but never at once: a server that just failed is not asked again within the same second.
    let jittered = max(min(1000, bound), Int64(Double(bound) * min(max(chance, 0), 1)))
    // Never more than half of what is left of the token's life: one that can still be saved is not left to expire in a wait.
    let left = createdAt + AttributionToken.lifetimeMilliseconds - now
    return later(by: max(min(jittered, max(left / 2, Self.leastLastWait)), retryAfter ?? 0), createdAt: createdAt, now: now)
  }

  private func later(by delay: Int64, createdAt: Int64, now: Int64) -> Action {
    let (due, overflow) = now.addingReportingOverflow(delay)
    guard !overflow, due <= createdAt + AttributionToken.lifetimeMilliseconds else { return .finish(.expired, nil) }
    return .call(at: due)
  }
}
