public import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// A client whose concurrent callers share a few connections: their commands are pipelined, which is also what lets Redis
/// answer a whole batch after one fsync. Fails fast while Redis is away and reconnects by itself.
///
/// Connections are opened as they are needed. Redis reads 16 KiB of a connection before it turns to the next, and syncs when it
/// has read from all: commands beyond that go to another connection, or they would wait for a sync of their own. A caller on an
/// event loop uses a connection of that loop, so that neither command nor reply changes threads; while that loop has none yet, one of
/// another.
public final class RedisClient: Sendable {
  public struct Configuration: Sendable {
    /// Shared connections, at the most; nil for four for each event loop.
    public var connections: Int?
    /// The event loop that the first connection belongs to.
    var firstLoop = 0
    public var connectTimeout: Duration = .seconds(2)
    /// How long one command may take.
    public var commandTimeout: Duration = .seconds(5)
    /// Elements of one reply, nested ones counted.
    public var maxReplyElements = 1_000_000
    /// Asked for behind each batch of commands; nil: Redis' own reply is enough.
    public var replication: RedisReplication?
    /// Told of every command.
    public var observer: (any RedisObserver)?
    /// Told the channels of messages, on the connection's event loop, when the client subscribes to some (`SSUBSCRIBE`).
    public var onMessage: (@Sendable (_ channel: String) -> Void)?
    /// Told when a connection was opened, before it is used: it subscribes to nothing yet.
    public var onConnect: (@Sendable () -> Void)?
    /// For `rediss://`.
    public var tls = RedisTLSFiles()
    /// A file whose first line is the password, in place of one in the URL; read anew for each connection.
    public var passwordFile: String?

    public init() {}
  }

  private struct State {
    var connections: [RedisConnection?]
    var opening: [Task<RedisConnection, any Error>?]
    var failures = 0
    /// No new attempt before this moment while Redis is away.
    var retryAt: ContinuousClock.Instant?
    /// Why the last attempt failed.
    var fault: RedisError?
    var closed = false
  }

  private static let connectionsPerLoop = 4
  /// What Redis reads of a connection at a time, bytes (PROTO_IOBUF_LEN).
  private static let readAtOnce = 16 << 10

  public let url: RedisURL
  private let configuration: Configuration
  private let logger: Logger
  /// The n-th connection belongs to the n-th of these, and again from the first.
  private let loops: [any EventLoop]
  private let addresses: HostAddresses
  private let state: NIOLockedValueBox<State>

  public convenience init(url: RedisURL, configuration: Configuration = Configuration(), logger: Logger) {
    self.init(url: url, configuration: configuration, addresses: HostAddresses(), logger: logger)
  }

  init(url: RedisURL, configuration: Configuration, addresses: HostAddresses, logger: Logger) {
    self.url = url
    self.configuration = configuration
    self.addresses = addresses
    self.logger = logger
    let loops = Array(MultiThreadedEventLoopGroup.singleton.makeIterator())
    let most = max(1, configuration.connections ?? Self.connectionsPerLoop * loops.count)
    self.loops = Array(loops[(configuration.firstLoop % loops.count)...] + loops[..<(configuration.firstLoop % loops.count)])
    state = NIOLockedValueBox(
      State(connections: Array(repeating: nil, count: most), opening: Array(repeating: nil, count: most)))
  }

  /// A client of its own for reads that block: their connection must not hold up others. `loop`: the number of the event loop that
  /// the connection belongs to, counted round.
  public func dedicated(commandTimeout: Duration, loop: Int = 0) -> RedisClient {
    var configuration = configuration
    configuration.firstLoop = loop
    configuration.connections = 1
    configuration.commandTimeout = commandTimeout
    return RedisClient(url: url, configuration: configuration, addresses: addresses, logger: logger)
  }

  /// A client of its own that subscribes: its one connection may do little else.
  public func subscriber(
    loop: Int, onConnect: @escaping @Sendable () -> Void, onMessage: @escaping @Sendable (_ channel: String) -> Void
  ) -> RedisClient {
    var configuration = configuration
    configuration.firstLoop = loop
    configuration.connections = 1
    configuration.onConnect = onConnect
    configuration.onMessage = onMessage
    return RedisClient(url: url, configuration: configuration, addresses: addresses, logger: logger)
  }

  /// A client of its own whose commands are answered when that many replicas have them: its connection waits for them.
  public func replicated(_ replication: RedisReplication) -> RedisClient {
    var configuration = configuration
    configuration.replication = replication
    configuration.commandTimeout += replication.timeout
    return RedisClient(url: url, configuration: configuration, addresses: addresses, logger: logger)
  }

  /// Whether a connection stands now.
  public var isConnected: Bool { state.withLockedValue { $0.connections.contains { $0?.isOpen == true } } }

  /// Sends one command. Throws for a refusal too; see ``sendAllowingErrors(_:timeout:)``.
  @discardableResult
  public func send(_ arguments: [RedisArgument], timeout: Duration? = nil, name: String? = nil) async throws(RedisError) -> RedisReply {
    try Self.accepted(await sendAllowingErrors(arguments, timeout: timeout, name: name))
  }

  /// The same for a command whose words are written already; `name`: what it is called in metrics.
  @discardableResult
  public func send(_ words: RedisWords, timeout: Duration? = nil, name: String) async throws(RedisError) -> RedisReply {
    try Self.accepted(await sendAllowingErrors(words, timeout: timeout, name: name))
  }

  static func accepted(_ reply: RedisReply) throws(RedisError) -> RedisReply {
    if let text = reply.error { throw .refused(text) }
    return reply
  }

  /// Sends one command and answers whatever Redis says, a refusal included.
  ///
  /// `name`: what the command is called in metrics, where its first word says too little.
  public func sendAllowingErrors(_ arguments: [RedisArgument], timeout: Duration? = nil, name: String? = nil)
    async throws(RedisError) -> RedisReply
  {
    try await sendAllowingErrors(RedisWords(arguments), timeout: timeout, name: name ?? arguments.first?.text ?? "")
  }

  /// The same for a command whose words are written already.
  public func sendAllowingErrors(_ words: RedisWords, timeout: Duration? = nil, name: String) async throws(RedisError) -> RedisReply {
    do {
      let connection = try await connection()
      let limit = timeout ?? configuration.commandTimeout
      return try await connection.send(words, timeout: .nanoseconds(Self.nanoseconds(limit)), name: name)
    } catch let error as RedisError {
      throw error
    } catch {
      throw .unavailable("\(error)")
    }
  }

  private static func nanoseconds(_ time: Duration) -> Int64 {
    let (seconds, attoseconds) = time.components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  /// Closes all connections; later commands fail.
  public func close() {
    let open = state.withLockedValue { state in
      state.closed = true
      return state.connections.compactMap { $0 }
    }
    for connection in open { connection.close() }
  }

  private func connection() async throws -> RedisConnection {
    enum Next {
      case ready(RedisConnection)
      case wait(Task<RedisConnection, any Error>)
    }
    let loop = MultiThreadedEventLoopGroup.currentEventLoop
    let own = loop.flatMap { loop in loops.firstIndex { $0 === loop } }
    let next: Next = try state.withLockedValue { state in
      guard !state.closed else { throw RedisError.unavailable("the client is closed") }
      let count = state.connections.count
      // A loop that has none may use any.
      let places = own.map { $0 < count } ?? false ? stride(from: own!, to: count, by: loops.count) : stride(from: 0, to: count, by: 1)
      var best: RedisConnection?
      var absent: Int?
      for place in places {
        guard let connection = state.connections[place], connection.isOpen else {
          if absent == nil { absent = place }
          continue
        }
        if connection.load < Self.readAtOnce { return .ready(connection) }
        if best.map({ connection.load < $0.load }) ?? true { best = connection }
      }
      guard let absent else { return .ready(best!) }
      // Opening takes its time, seconds where the name server is slow: another loop's connection is better than waiting.
      if best == nil {
        best = state.connections.compactMap { $0 }.filter(\.isOpen).min { $0.load < $1.load }
      }
      let opening: Task<RedisConnection, any Error>
      if let begun = state.opening[absent] {
        opening = begun
      } else if let retryAt = state.retryAt, ContinuousClock.now < retryAt {
        if let best { return .ready(best) }
        throw state.fault ?? RedisError.unavailable("waiting before the next attempt")
      } else {
        opening = Task { try await self.open(absent) }
        state.opening[absent] = opening
      }
      // A busy connection is better than none.
      return best.map { .ready($0) } ?? .wait(opening)
    }
    switch next {
    case .ready(let connection): return connection
    case .wait(let task): return try await task.value
    }
  }

  private func open(_ index: Int) async throws -> RedisConnection {
    do {
      let connection = try await RedisConnection.open(
        url, loop: loops[index % loops.count], addresses: addresses,
        connectTimeout: .nanoseconds(Int64(configuration.connectTimeout / .nanoseconds(1))),
        maxReplyElements: configuration.maxReplyElements, replication: configuration.replication,
        observer: configuration.observer, tls: configuration.tls, passwordFile: configuration.passwordFile,
        onMessage: configuration.onMessage)
      configuration.observer?.connected()
      configuration.onConnect?()
      let closed = state.withLockedValue { state in
        state.connections[index] = state.closed ? nil : connection
        state.opening[index] = nil
        state.failures = 0
        state.retryAt = nil
        state.fault = nil
        return state.closed
      }
      guard !closed else {
        connection.close()
        throw RedisError.unavailable("the client is closed")
      }
      return connection
    } catch {
      let fault = error as? RedisError ?? .unavailable(Self.reason(error))
      let failures = state.withLockedValue { state in
        state.fault = fault
        state.opening[index] = nil
        state.failures += 1
        // Full jitter up to half a second: the many callers that fail fast must not become a storm of connects.
        let cap = min(500, 10 << min(state.failures, 6))
        state.retryAt = .now + .milliseconds(Int.random(in: 5...max(6, cap)))
        return state.failures
      }
      if failures == 1 { logger.warning("no connection to Redis", metadata: ["reason": "\(fault)"]) }
      throw fault
    }
  }

  /// What kept a connection from being made, without the type names that NIO puts around it.
  private static func reason(_ error: any Error) -> String {
    guard let failed = error as? NIOConnectionError else { return "cannot connect: \(error)" }
    if let cause = failed.connectionErrors.first?.error { return "cannot connect to \(failed.host):\(failed.port): \(cause)" }
    let fault = failed.dnsAError ?? failed.dnsAAAAError
    return "cannot connect: no address for \(failed.host)\(fault.map { " (\($0))" } ?? "")"
  }
}
