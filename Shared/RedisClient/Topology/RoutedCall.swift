/// The state machine that routes one command through a changing topology: it takes what happened and returns the next action.
struct RoutedCall {
  enum Step: Equatable {
    /// Send it where the topology says that its slot is.
    case route
    /// Send it to this node; `asking`: as one that was told by another that the key is there already.
    case send(NodeAddress, asking: Bool)
    /// Learn the topology anew, wait, and send it where that says.
    case rediscover(then: Duration)
    /// Wait, and send it where the topology says.
    case pause(Duration)
    case fail(RedisError)
  }

  /// `MOVED` that are followed one after the other: more than that go in circles.
  static let mostMoves = 8
  private static let firstPause: Duration = .milliseconds(5)
  private static let longestPause: Duration = .milliseconds(100)

  private let until: ContinuousClock.Instant
  private var moves = 0
  private var pauses = 0

  /// - Parameter until: no longer than this it is sent again.
  init(until: ContinuousClock.Instant) { self.until = until }

  /// It was refused, and not executed.
  mutating func refused(_ redirection: Redirection, now: ContinuousClock.Instant, jitter: Double) -> Step {
    switch redirection {
    case .moved(_, let node):
      moves += 1
      guard moves <= Self.mostMoves else { return .fail(.unavailable("redirected more than \(Self.mostMoves) times")) }
      return .send(node, asking: false)
    case .ask(let node):
      // Behind it may come a refusal that waits, so that it is bounded by time.
      guard now < until else { return .fail(.unavailable("its slot is being moved")) }
      return .send(node, asking: true)
    case .tryAgain:
      guard let pause = nextPause(now, jitter) else { return .fail(.unavailable("its slot is being moved")) }
      return .pause(pause)
    case .unsettled(let text):
      guard let pause = nextPause(now, jitter) else { return .fail(.unavailable(text)) }
      return .rediscover(then: pause)
    }
  }

  /// There was no connection, so that it was not sent. `isLong`: the node was away before this call was made, and for longer than calls are
  /// sent again.
  mutating func unsent(_ error: RedisError, isLong: Bool, now: ContinuousClock.Instant, jitter: Double) -> Step {
    guard !isLong, let pause = nextPause(now, jitter) else { return .fail(error) }
    return .rediscover(then: pause)
  }

  /// Nobody serves its slot as far as is known.
  mutating func unserved(now: ContinuousClock.Instant, jitter: Double) -> Step {
    guard let pause = nextPause(now, jitter) else { return .fail(.unavailable("no node serves this key's slot")) }
    return .rediscover(then: pause)
  }

  /// Doubles, with jitter; nil when time is up.
  private mutating func nextPause(_ now: ContinuousClock.Instant, _ jitter: Double) -> Duration? {
    guard now < until else { return nil }
    pauses += 1
    moves = 0
    let cap = min(Self.longestPause, Self.firstPause * (1 << min(pauses - 1, 5)))
    return min(cap * (0.5 + jitter / 2), now.duration(to: until))
  }
}
