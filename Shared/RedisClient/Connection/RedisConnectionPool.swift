import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// The connections to one node. They are opened on demand, shared by concurrent callers, and reopened when they end.
///
/// Redis reads up to 16 KiB from each connection, executes these commands, and syncs once for all connections. Commands beyond 16 KiB would
/// wait for a second sync, so they use another connection. A caller on an event loop uses a connection of that loop, so that commands and
/// replies do not change threads. While the loop has none, the caller uses a connection of another loop.
final class RedisConnectionPool: Sendable {
  private struct State {
    var connections: [RedisConnection?]
    /// For each index, the task that opens its connection.
    var opening: [Task<RedisConnection, any Error>?]
    /// The number of failed attempts to connect since the last successful one.
    var failures = 0
    /// The earliest time of the next attempt; nil if the last one succeeded.
    var retryAt: ContinuousClock.Instant?
    /// The time of the first failed attempt since the last successful one.
    var unavailableSince: ContinuousClock.Instant?
    /// The error of the last attempt; nil if it succeeded.
    var lastError: RedisError?
    var closed = false
  }

  private static let connectionsPerLoop = 4
  /// The number of bytes that Redis reads from a connection at a time (PROTO_IOBUF_LEN).
  private static let maxRead = 16 << 10

  private let url: RedisURL
  private let configuration: RedisClient.Configuration
  private let logger: Logger
  /// The event loops. Connection n belongs to loop n modulo their number.
  private let loops: [any EventLoop]
  private let addresses: HostAddresses
  private let state: NIOLockedValueBox<State>

  /// - Parameter url: the node's address and the login.
  init(url: RedisURL, configuration: RedisClient.Configuration, addresses: HostAddresses, logger: Logger) {
    self.url = url
    self.configuration = configuration
    self.addresses = addresses
    self.logger = logger
    let loops = Array(MultiThreadedEventLoopGroup.singleton.makeIterator())
    let maxConnections = max(1, configuration.connections ?? Self.connectionsPerLoop * loops.count)
    self.loops = Array(loops[(configuration.firstLoop % loops.count)...] + loops[..<(configuration.firstLoop % loops.count)])
    state = NIOLockedValueBox(
      State(connections: Array(repeating: nil, count: maxConnections), opening: Array(repeating: nil, count: maxConnections)))
  }

  /// True if a connection is open.
  var isConnected: Bool { state.withLockedValue { $0.connections.contains { $0?.isOpen == true } } }

  /// The time for which connecting has failed; nil if the last attempt succeeded.
  var unavailableFor: Duration? { state.withLockedValue { $0.unavailableSince?.duration(to: .now) } }

  /// Sends one command. Returns any reply, including an error reply.
  func send(_ arguments: EncodedArguments, timeout: Duration? = nil, name: String) async throws(RedisError) -> RedisReply {
    try await send(arguments, over: connection(), timeout: timeout, name: name)
  }

  /// Sends one command over an open connection. Returns any reply, including an error reply.
  ///
  /// - Parameter isAsking: true if the command must be preceded by `ASKING`.
  func send(_ arguments: EncodedArguments, over connection: RedisConnection, isAsking: Bool = false, timeout: Duration?, name: String)
    async throws(RedisError) -> RedisReply
  {
    do {
      let limit = timeout ?? configuration.commandTimeout
      return try await connection.send(arguments, isAsking: isAsking, timeout: .nanoseconds(Self.nanoseconds(limit)), name: name)
    } catch let error as RedisError {
      throw error
    } catch {
      throw .unavailable("\(error)")
    }
  }

  /// Sends several commands together over an open connection.
  func send(_ commands: EncodedCommands, ignoring ignored: Int, over connection: RedisConnection, name: String)
    async throws(RedisError) -> [RedisReply]
  {
    do {
      let limit = TimeAmount.nanoseconds(Self.nanoseconds(configuration.commandTimeout))
      return try await connection.send(commands, ignoring: ignored, timeout: limit, name: name)
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

  /// Closes all connections. Later commands fail.
  func close() {
    let open = state.withLockedValue { state in
      state.closed = true
      return state.connections.compactMap { $0 }
    }
    for connection in open { connection.close() }
  }

  /// An open connection. If this throws, nothing was sent.
  func connection() async throws(RedisError) -> RedisConnection {
    do { return try await find() } catch let error as RedisError { throw error } catch { throw .unavailable("\(error)") }
  }

  /// Chooses a connection, and opens another one if all candidates are busy.
  private func find() async throws -> RedisConnection {
    enum Next {
      case ready(RedisConnection)
      case wait(Task<RedisConnection, any Error>)
    }
    let loop = MultiThreadedEventLoopGroup.currentEventLoop
    let loopIndex = loop.flatMap { loop in loops.firstIndex { $0 === loop } }
    let next: Next = try state.withLockedValue { state in
      guard !state.closed else { throw RedisError.unavailable("the client is closed") }
      let count = state.connections.count
      // If there are fewer connections than loops, a loop without one may use any.
      let candidates =
        loopIndex.map { $0 < count } ?? false ? stride(from: loopIndex!, to: count, by: loops.count) : stride(from: 0, to: count, by: 1)
      // The open connection with the least load, and the first index without an open connection.
      var best: RedisConnection?
      var absent: Int?
      for index in candidates {
        guard let connection = state.connections[index], connection.isOpen else {
          if absent == nil { absent = index }
          continue
        }
        if connection.load < Self.maxRead { return .ready(connection) }
        if best.map({ connection.load < $0.load }) ?? true { best = connection }
      }
      guard let absent else { return .ready(best!) }
      // Opening may take seconds if the name server is slow, so a connection of another loop is used until then.
      if best == nil {
        best = state.connections.compactMap { $0 }.filter(\.isOpen).min { $0.load < $1.load }
      }
      let opening: Task<RedisConnection, any Error>
      if let task = state.opening[absent] {
        opening = task
      } else if let retryAt = state.retryAt, ContinuousClock.now < retryAt {
        if let best { return .ready(best) }
        throw state.lastError ?? RedisError.unavailable("the next attempt to connect is not due yet")
      } else {
        opening = Task { try await self.open(absent) }
        state.opening[absent] = opening
      }
      // A busy connection is better than waiting for a new one.
      return best.map { .ready($0) } ?? .wait(opening)
    }
    switch next {
    case .ready(let connection): return connection
    case .wait(let task): return try await task.value
    }
  }

  /// Opens the connection with that index.
  private func open(_ index: Int) async throws -> RedisConnection {
    do {
      let connection = try await RedisConnection.open(url, configuration, loop: loops[index % loops.count], addresses: addresses)
      configuration.observer?.connected()
      let closed = state.withLockedValue { state in
        state.connections[index] = state.closed ? nil : connection
        state.opening[index] = nil
        state.failures = 0
        state.retryAt = nil
        state.unavailableSince = nil
        state.lastError = nil
        return state.closed
      }
      guard !closed else {
        connection.close()
        throw RedisError.unavailable("the client is closed")
      }
      return connection
    } catch {
      let failure = error as? RedisError ?? .unavailable(Self.reason(error))
      let failures = state.withLockedValue { state in
        state.lastError = failure
        state.opening[index] = nil
        state.failures += 1
        state.unavailableSince = state.unavailableSince ?? .now
        // A random wait of up to half a second, so that clients that fail at the same time do not reconnect at the same time.
        let cap = min(500, 10 << min(state.failures, 6))
        state.retryAt = .now + .milliseconds(Int.random(in: 5...max(6, cap)))
        return state.failures
      }
      if failures == 1 { logger.warning("no connection to Redis", metadata: ["node": "\(url.logName)", "reason": "\(failure)"]) }
      throw failure
    }
  }

  /// The reason why a connection failed, without the type names that NIO puts around it.
  private static func reason(_ error: any Error) -> String {
    guard let failed = error as? NIOConnectionError else { return "cannot connect: \(error)" }
    if let cause = failed.connectionErrors.first?.error { return "cannot connect to \(failed.host):\(failed.port): \(cause)" }
    let fault = failed.dnsAError ?? failed.dnsAAAAError
    return "cannot connect: no address for \(failed.host)\(fault.map { " (\($0))" } ?? "")"
  }
}
