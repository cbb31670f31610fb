import NIOCore
import NIOPosix

#if canImport(Glibc)
  import Glibc
#endif

/// The connections of one event loop to a server.
final class LoopPool: @unchecked Sendable {  // used only on its event loop
  /// The maximum number of connections. If all are in use, further requests wait.
  private static let maxConnections = 64
  private static let connectTimeout: TimeAmount = .seconds(3)
  /// How long sent data may stay unacknowledged before the connection is closed (`TCP_USER_TIMEOUT`), milliseconds. Otherwise the kernel
  /// would take minutes to notice that a server has disappeared.
  private static let acknowledgementTimeout = 5000

  private let loop: any EventLoop
  private let host: String
  private let port: Int
  /// Idle connections. The most recently used one is last, and is used first.
  private var idle: [LoopConnection] = []
  /// Requests that wait for a connection. It may contain requests that are over.
  private var waiting = CircularBuffer<LoopExchange>()
  /// The number of connections that are open or being opened.
  private var open = 0
  /// The number of connections that are being opened.
  private var opening = 0

  init(loop: any EventLoop, host: String, port: Int) {
    self.loop = loop
    self.host = host
    self.port = port
  }

  /// Sends a request, and ends it at its timeout.
  func begin(_ exchange: LoopExchange) {
    let time = TimeAmount.nanoseconds(max(0, Int64(exchange.timeout / .nanoseconds(1))))
    exchange.timer = loop.assumeIsolated().scheduleTask(in: time) {
      let connection = exchange.connection
      exchange.end(.failure(.timedOut))
      guard let connection else { return }
      // The server may have disappeared, and then the idle connections do not work either.
      connection.close()
      self.closeIdle()
    }
    sendOrQueue(exchange)
  }

  /// Sends a request again, over another connection.
  func resend(_ exchange: LoopExchange) {
    exchange.wasResent = true
    sendOrQueue(exchange)
  }

  /// Called when a connection is ready for its next request.
  func release(_ connection: LoopConnection) {
    while let next = waiting.popFirst() {
      if !next.isOver { return connection.send(next) }
    }
    idle.append(connection)
  }

  /// Called when a connection was closed.
  func remove(_ connection: LoopConnection) {
    open -= 1
    idle.removeAll { $0 === connection }
    connectIfNeeded()
  }

  private func sendOrQueue(_ exchange: LoopExchange) {
    if let connection = idle.popLast() { return connection.send(exchange) }
    waiting.append(exchange)
    connectIfNeeded()
  }

  private func connectIfNeeded() {
    while waiting.first?.isOver == true { waiting.removeFirst() }
    if waiting.count > opening, open < Self.maxConnections { connect() }
  }

  private func closeIdle() {
    let connections = idle
    idle = []
    for connection in connections { connection.close() }
  }

  private func connect() {
    opening += 1
    open += 1
    let userTimeout = ChannelOptions.Types.SocketOption(level: .init(rawValue: CInt(IPPROTO_TCP)), name: .init(rawValue: TCP_USER_TIMEOUT))
    let connecting = ClientBootstrap(group: loop).connectTimeout(Self.connectTimeout)
      .channelOption(ChannelOptions.tcpOption(.tcp_nodelay), value: 1)
      .channelOption(userTimeout, value: Self.acknowledgementTimeout)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(LoopConnection(channel: channel, pool: self))
        }
      }.connect(host: host, port: port)
    connecting.assumeIsolated().whenComplete { result in
      self.opening -= 1
      switch result {
      case .success(let channel): self.connected(channel)
      case .failure(let error): self.failedToConnect("\(error)")
      }
    }
  }

  private func connected(_ channel: any Channel) {
    // If the host has several addresses, this is the channel of the first one that answered.
    guard channel.isActive, let connection = try? channel.pipeline.syncOperations.handler(type: LoopConnection.self) else {
      return failedToConnect("the connection was closed at once")
    }
    connection.isInPool = true
    release(connection)
  }

  private func failedToConnect(_ message: String) {
    open -= 1
    // Only the request that has waited longest fails if there are other connections, which serve the others. Without any, all fail.
    while let first = waiting.popFirst() {
      let wasOver = first.isOver
      first.end(.failure(.couldNotConnect(message)))
      if !wasOver, open > 0 { return }
    }
  }
}
