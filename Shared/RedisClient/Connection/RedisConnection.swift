import Cryptography
import NIOConcurrencyHelpers
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

#if canImport(Glibc)
  import Glibc
#endif

/// One connection. Commands are written in order, and Redis replies to them in the same order. ``RedisConnectionHandler`` has the
/// connection's state on its event loop.
final class RedisConnection: Sendable {
  private let channel: any Channel
  private let handler: NIOLoopBound<RedisConnectionHandler>
  /// See ``load``.
  private let unansweredBytes = Atomic(0)

  private init(channel: any Channel, handler: NIOLoopBound<RedisConnectionHandler>) {
    self.channel = channel
    self.handler = handler
  }

  /// Connects, authenticates, selects the database and, if the configuration requires it, checks that the node is the primary.
  static func open(_ url: RedisURL, _ configuration: RedisClient.Configuration, loop: any EventLoop, addresses: HostAddresses)
    async throws -> RedisConnection
  {
    let password = try configuration.passwordFile.map(Self.password) ?? url.password
    let context = url.usesTLS ? try configuration.tls.context() : nil
    let connectTimeout = TimeAmount.nanoseconds(Int64(configuration.connectTimeout / .nanoseconds(1)))
    // The handler is not looked up in the pipeline, because the pipeline is empty if Redis closes the connection at once. There is a
    // handler for each channel, because NIO tries several addresses of a name concurrently.
    let handlers = NIOLockedValueBox<[ObjectIdentifier: NIOLoopBound<RedisConnectionHandler>]>([:])
    let bootstrap = ClientBootstrap(group: loop)
      .connectTimeout(connectTimeout)
      .channelOption(.socketOption(.so_keepalive), value: 1)
      .channelOption(.maxMessagesPerRead, value: 16)
      .channelOption(
        // At most 64 KiB, so that the bytes are still in a core's cache when they are parsed.
        .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 8192, maximum: 64 << 10)
      )
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard let reader = ReplyReader(maxElements: configuration.maxReplyElements) else {
            throw RedisError.unavailable("out of memory")
          }
          if let context {
            try channel.pipeline.syncOperations.addHandler(
              try NIOSSLClientHandler(context: context, serverHostname: url.serverName))
          }
          let handler = RedisConnectionHandler(
            reader: reader, replication: configuration.replication, observer: configuration.observer,
            subscription: configuration.subscription)
          try channel.pipeline.syncOperations.addHandler(handler)
          handlers.withLockedValue { $0[ObjectIdentifier(channel)] = NIOLoopBound(handler, eventLoop: channel.eventLoop) }
        }
      }
    let channel: any Channel
    switch url.address {
    case .tcp(let host, let port):
      // With these options, the system closes a connection whose peer has vanished within about 6 s: after 3 s without data it sends three
      // probes, one each second, and it waits 4,000 ms for an acknowledgement of data. Otherwise a command would have to time out first.
      channel = try await bootstrap.channelOption(.tcpOption(.tcp_nodelay), value: 1)
        .channelOption(Self.tcpOption(TCP_KEEPIDLE), value: 3).channelOption(Self.tcpOption(TCP_KEEPINTVL), value: 1)
        .channelOption(Self.tcpOption(TCP_KEEPCNT), value: 3).channelOption(Self.tcpOption(TCP_USER_TIMEOUT), value: 4000)
        .resolver(HostResolver(found: addresses.find(host, port: port, on: loop)))
        .connect(host: host, port: port).get()
    case .unix(let path): channel = try await bootstrap.connect(unixDomainSocketPath: path).get()
    }
    guard let handler = handlers.withLockedValue({ $0[ObjectIdentifier(channel)] }) else {
      throw RedisError.unavailable("the connection was closed")
    }
    let connection = RedisConnection(channel: channel, handler: handler)
    do {
      if let password {
        let login: [RedisArgument] = ["AUTH"] + (url.user.map { [.string($0)] } ?? []) + [.string(password)]
        if let text = try await connection.send(EncodedArguments(login), timeout: connectTimeout, name: "AUTH").error {
          throw RedisError.refused(text)
        }
      } else {
        // If Redis requires a password or refuses this host, it replies to PING with an error. Then opening the connection fails, and not
        // each caller's command. Other errors, such as a missing permission for PING, do not matter here.
        let text = try await connection.send(EncodedArguments(["PING"]), timeout: connectTimeout, name: "PING").error
        if let text, text.hasPrefix("NOAUTH") || text.hasPrefix("DENIED") { throw RedisError.refused(text) }
      }
      if url.database != 0 {
        let select = EncodedArguments(["SELECT", .integer(Int64(url.database))])
        if let text = try await connection.send(select, timeout: connectTimeout, name: "SELECT").error { throw RedisError.refused(text) }
      }
      if configuration.requiresPrimary {
        let role = try await connection.send(EncodedArguments(["ROLE"]), timeout: connectTimeout, name: "ROLE")
        // Sentinels may still name the former primary. If the user may not run ROLE, the reply is an error, and only the first write to a
        // replica fails.
        if let role = role.elements.first(where: { _ in true })?.string, role != "master" {
          throw RedisError.unavailable("\(url.logName) is not the primary (its role is \(role))")
        }
      }
    } catch {
      connection.close()
      throw error
    }
    return connection
  }

  private static func tcpOption(_ name: CInt) -> ChannelOptions.Types.SocketOption {
    ChannelOptions.Types.SocketOption(level: .tcp, name: NIOBSDSocket.Option(rawValue: name))
  }

  /// The first line of the password's file.
  private static func password(_ path: String) throws(RedisError) -> String {
    do throws(KeyFileError) { return try PrivateFile.firstLine(path) } catch {
      throw .passwordFile(error.text("password file"))
    }
  }

  var isOpen: Bool { channel.isActive }

  /// The approximate size in bytes of the commands that wait for a reply. ``EncodedCommands`` are not counted.
  var load: Int { unansweredBytes.load(ordering: .relaxed) }

  /// Sends one command and returns its reply, including an error reply. Commands that are sent in one turn of the event loop are written
  /// together, so that Redis replies to them after one fsync.
  ///
  /// - Parameters:
  ///   - isAsking: true if the command must be preceded by `ASKING`, because its slot is being moved to this node.
  ///   - name: the command's name in metrics.
  func send(_ arguments: EncodedArguments, isAsking: Bool = false, timeout: TimeAmount, name: String) async throws -> RedisReply {
    // 16 for the header of the command's array.
    let size = arguments.size + 16
    unansweredBytes.add(size, ordering: .relaxed)
    defer { unansweredBytes.subtract(size, ordering: .relaxed) }
    let loop = channel.eventLoop
    return try await withUnsafeThrowingContinuation { continuation in
      if loop.inEventLoop {
        handler.value.send(arguments, isAsking: isAsking, timeout: timeout, name: name, continuation)
      } else {
        loop.execute { [handler] in handler.value.send(arguments, isAsking: isAsking, timeout: timeout, name: name, continuation) }
      }
    }
  }

  /// Sends several commands together. Returns their replies, including error replies.
  ///
  /// - Parameter ignored: the number of first replies that are dropped.
  func send(_ commands: EncodedCommands, ignoring ignored: Int, timeout: TimeAmount, name: String) async throws -> [RedisReply] {
    let loop = channel.eventLoop
    return try await withUnsafeThrowingContinuation { continuation in
      if loop.inEventLoop {
        handler.value.send(commands, ignoring: ignored, timeout: timeout, name: name, continuation)
      } else {
        loop.execute { [handler] in handler.value.send(commands, ignoring: ignored, timeout: timeout, name: name, continuation) }
      }
    }
  }

  func close() { channel.close(promise: nil) }
}
