import Logging
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix

/// The connections to one node. They are opened on demand, shared by concurrent callers, and reopened when they end.
///
/// Redis reads 16 KiB of each connection and then syncs once for all. Commands beyond 16 KiB therefore use another connection, because they
/// would wait for a second sync. A caller on an event loop uses a connection of that loop, so that commands and replies do not change
/// threads; if the loop has none yet, it uses one of another loop.
final class RedisConnectionPool: Sendable {
  private struct State {
    var connections: [RedisConnection?]
    var opening: [Task<RedisConnection, any Error>?]
    var failures = 0
    /// The earliest time of the next attempt while the node is unavailable.
    var retryAt: ContinuousClock.Instant?
    /// The time since which no attempt succeeded.
    var unavailableSince: ContinuousClock.Instant?
    /// The error of the last attempt.
    var fault: RedisError?
    var closed = false
  }

  private static let connectionsPerLoop = 4
  /// The number of bytes that Redis reads from a connection at a time (PROTO_IOBUF_LEN).
  private static let readAtOnce = 16 << 10

  private let url: RedisURL
  private let configuration: RedisClient.Configuration
  private let logger: Logger
  /// The event loops of the connections, in turn: connection n belongs to loop n modulo their number.
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

  /// How long connecting has failed; nil if the last attempt succeeded.
  var unavailableFor: Duration? { state.withLockedValue { $0.unavailableSince?.duration(to: .now) } }

  /// Sends one command. Returns any reply, including an error reply.
  func send(_ words: EncodedArguments, timeout: Duration? = nil, name: String) async throws(RedisError) -> RedisReply {
    try await send(words, over: connection(), timeout: timeout, name: name)
  }

  /// Sends one command over an open connection. `isAsking`: true if the command must be preceded by `ASKING`.
  func send(_ words: EncodedArguments, over connection: RedisConnection, isAsking: Bool = false, timeout: Duration?, name: String)
    async throws(RedisError) -> RedisReply
  {
    do {
      let limit = timeout ?? configuration.commandTimeout
      return try await connection.send(words, isAsking: isAsking, timeout: .nanoseconds(Self.nanoseconds(limit)), name: name)
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

  /// Closes all connections; later commands fail.
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

  private func find() async throws -> RedisConnection {
    enum Next {
      case ready(RedisConnection)
      case wait(Task<RedisConnection, any Error>)
    }
    let loop = MultiThreadedEventLoopGroup.currentEventLoop
    let own = loop.flatMap { loop in loops.firstIndex { $0 === loop } }
    let next: Next = try state.withLockedValue { state in
      guard !state.closed else { throw RedisError.unavailable("the client is closed") }
      let count = state.connections.count
      // A loop without a connection of its own may use any connection.
      let candidates = own.map { $0 < count } ?? false ? stride(from: own!, to: count, by: loops.count) : stride(from: 0, to: count, by: 1)
      var best: RedisConnection?
      var absent: Int?
      for index in candidates {
        guard let connection = state.connections[index], connection.isOpen else {
          if absent == nil { absent = index }
          continue
        }
        if connection.load < Self.readAtOnce { return .ready(connection) }
        if best.map({ connection.load < $0.load }) ?? true { best = connection }
      }
      guard let absent else { return .ready(best!) }
      // Opening may take seconds if the name server is slow, so a connection of another loop is used meanwhile.
      if best == nil {
        best = state.connections.compactMap { $0 }.filter(\.isOpen).min { $0.load < $1.load }
      }
      let opening: Task<RedisConnection, any Error>
      if let begun = state.opening[absent] {
        opening = begun
      } else if let retryAt = state.retryAt, ContinuousClock.now < retryAt {
        if let best { return .ready(best) }
        throw state.fault ?? RedisError.unavailable("the next attempt to connect is not due yet")
      } else {
        opening = Task { try await self.open(absent) }
        state.opening[absent] = opening
      }
      // A busy connection is used rather than waiting for a new one.
      return best.map { .ready($0) } ?? .wait(opening)
    }
    switch next {
    case .ready(let connection): return connection
    case .wait(let task): return try await task.value
    }
  }

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
        state.unavailableSince = state.unavailableSince ?? .now
        // Full jitter up to half a second, so that many callers that fail at once do not reconnect at once.
        let cap = min(500, 10 << min(state.failures, 6))
        state.retryAt = .now + .milliseconds(Int.random(in: 5...max(6, cap)))
        return state.failures
      }
      if failures == 1 { logger.warning("no connection to Redis", metadata: ["node": "\(url.logName)", "reason": "\(fault)"]) }
      throw fault
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
