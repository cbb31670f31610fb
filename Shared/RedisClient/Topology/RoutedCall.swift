/// The state machine that routes one command through a changing topology: each function takes an event and returns the next step, which
/// ``RedisClient`` carries out.
struct RoutedCall {
  enum Step: Equatable {
    /// Send the command to the node that the topology names.
    case route
    /// Send the command to this node. `asking` is true if `ASKING` must precede it, because another node has replied with `ASK`.
    case send(NodeAddress, asking: Bool)
    /// Discover the topology, wait, and send the command to the node that the topology then names.
    case rediscover(then: Duration)
    /// Wait, and send the command to the node that the topology names.
    case pause(Duration)
    case fail(RedisError)
  }

  /// The greatest number of `MOVED` redirections in a row. More of them would be a loop.
  static let maxMoves = 8
  private static let firstPause: Duration = .milliseconds(5)
  private static let maxPause: Duration = .milliseconds(100)

  private let deadline: ContinuousClock.Instant
  /// The number of `MOVED` redirections since the last pause.
  private var moves = 0
  private var pauses = 0

  /// - Parameter deadline: the time after which the command is not sent again.
  init(until deadline: ContinuousClock.Instant) { self.deadline = deadline }

  /// The next step after a redirection, which means that the command was not executed.
  mutating func refused(_ redirection: Redirection, now: ContinuousClock.Instant, jitter: Double) -> Step {
    switch redirection {
    case .moved(_, let node):
      moves += 1
      guard moves <= Self.maxMoves else { return .fail(.unavailable("redirected more than \(Self.maxMoves) times")) }
      return .send(node, asking: false)
    case .ask(let node):
      // Limited by time, because the other node may reply with a redirection that leads to a pause.
      guard now < deadline else { return .fail(.unavailable("its slot is being moved")) }
      return .send(node, asking: true)
    case .tryAgain:
      guard let pause = nextPause(now, jitter) else { return .fail(.unavailable("its slot is being moved")) }
      return .pause(pause)
    case .unsettled(let text):
      guard let pause = nextPause(now, jitter) else { return .fail(.unavailable(text)) }
      return .rediscover(then: pause)
    }
  }

  /// The next step after a failure to connect, which means that the command was not sent.
  ///
  /// - Parameter isLong: true if the node has been unavailable since before this call, and for longer than commands are retried.
  mutating func unsent(_ error: RedisError, isLong: Bool, now: ContinuousClock.Instant, jitter: Double) -> Step {
    guard !isLong, let pause = nextPause(now, jitter) else { return .fail(error) }
    return .rediscover(then: pause)
  }

  /// The next step if no known node serves the slot.
  mutating func unserved(now: ContinuousClock.Instant, jitter: Double) -> Step {
    guard let pause = nextPause(now, jitter) else { return .fail(.unavailable("no node serves this key's slot")) }
    return .rediscover(then: pause)
  }

  /// The next pause, which doubles each time up to ``maxPause``, with jitter; nil after the deadline.
  private mutating func nextPause(_ now: ContinuousClock.Instant, _ jitter: Double) -> Duration? {
    guard now < deadline else { return nil }
    pauses += 1
    moves = 0
    let cap = min(Self.maxPause, Self.firstPause * (1 << min(pauses - 1, 5)))
    return min(cap * (0.5 + jitter / 2), now.duration(to: deadline))
  }
}
